module github.com/golci/golci/mpi/capi

go 1.26.0

require (
	github.com/golci/golci v0.0.0
	go.uber.org/goleak v1.3.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/puzpuzpuz/xsync/v4 v4.5.0 // indirect
)

replace github.com/golci/golci => ../..
