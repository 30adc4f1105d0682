// Package usertest lets a test do something as another user of the machine.
package usertest
