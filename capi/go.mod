module github.com/golci/golci/capi

go 1.26.0

require (
	github.com/golci/golci v0.0.0
	go.uber.org/goleak v1.3.0
)

replace github.com/golci/golci => ..
