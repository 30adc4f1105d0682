// Package ofitest has jobs of tests go by libfabric, too, in builds that have it.
package ofitest
