// Package tuningtest gives processes that tests start the bounds of rank.Tuning.
package tuningtest

import (
	"fmt"
	"os"
	"time"

	"github.com/golci/golci/rank"
)

// Variables that tests give to processes whose own main calls FromEnv. Programs do not know them.
const (
	MinRTO     = "GOLCI_TEST_MINRTO"     // rank.Tuning.MinRTO
	ExitSettle = "GOLCI_TEST_EXITSETTLE" // rank.Tuning.ExitSettle
)

// FromEnv is what these variables say. It panics if one cannot be read.
func FromEnv() (t rank.Tuning) {
	for name, to := range map[string]*time.Duration{MinRTO: &t.MinRTO, ExitSettle: &t.ExitSettle} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			panic(fmt.Sprintf("tuningtest: %s: %v", name, err))
		}
		*to = d
	}
	return t
}
