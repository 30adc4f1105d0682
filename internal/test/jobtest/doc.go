// Package jobtest has the tests of whole jobs: real processes under the real launcher, what they use when idle, what is
// left of them when they are killed, what they allocate and what they tell when they hang.
package jobtest
