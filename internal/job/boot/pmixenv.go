package boot

import "github.com/golci/golci/internal/observe/settings"

// wantsPMIx says that this build can use a PMIx server, that there is one, and that the user names no other place where
// the ranks meet.
func (e *envReader) wantsPMIx() bool {
	return havePMIx && e.hasVar("PMIX_NAMESPACE") && e.hasVar("PMIX_RANK") &&
		!e.hasVar(settings.EnvSize) && !e.hasVar(settings.EnvRoot) && !e.hasVar(settings.EnvSecret)
}

// pmixPlace reads the variables of a PMIx launcher. The size is what the launcher says otherwise, or the least that it
// can be; the server is asked for it.
func pmixPlace(e *envReader) envPlace {
	p := envPlace{launcher: LauncherPMIx, rank: e.num("PMIX_RANK", 0), fd: -1, pmix: true}
	p.size = p.rank + 1
	for _, l := range []struct{ launcher, size string }{
		{LauncherOpenMPI, "OMPI_COMM_WORLD_SIZE"}, {LauncherSlurm, "SLURM_STEP_NUM_TASKS"},
	} {
		if e.hasVar(l.size) {
			p.launcher, p.size = l.launcher, e.num(l.size, 1)
			break
		}
	}
	return p
}
