// Package mpichtest has the script that runs MPICH's tests against the C library, and tests of the script.
package mpichtest
