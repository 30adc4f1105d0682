//go:build !pmix || !linux || !(amd64 || arm64)

package boot

import "context"

// havePMIx: this build speaks PMIx.
const havePMIx = false

// joinPMIx is not called.
func joinPMIx(context.Context, envPlace, options) (*Job, error) { return nil, errEnv }
