package phases

import (
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Halts gives the parts of a phase, and in a pipeline with parallel: true the phases, that
// do not go on until somebody does something about them, in the order of the record, each
// with the reason. Others go on meanwhile, so there can be several, also while the run is
// at work.
func Halts(plan *pipelines.Pipeline, run metadata.Run) []Decision {
	return slices.DeleteFunc(Due(plan, run), func(d Decision) bool {
		rec := run.Phase(d.Phase)
		return !d.Final() || rec == nil || !PhasesBeside(plan, rec)
	})
}

// haltsAlone reports whether a part that ended like that leaves it to the others to
// go on. What failed for a reason outside of the work, such as a service that does
// not answer, would fail for them, too; and while all parts are done on one branch,
// so would their checks if those of this part do.
func haltsAlone(rec *metadata.Phase, d Decision) bool {
	if rec.Lane != nil && d.Code == metadata.CheckFailed {
		return true
	}
	return (rec.Lane != nil || !rec.ChecksFail()) && slices.Contains([]metadata.Code{
		metadata.AwaitingPerson, metadata.ReviewFailed, metadata.Stuck, metadata.Conflicts, metadata.NoProgress, metadata.OutputInvalid,
		metadata.ChangeRefused, metadata.SecretFound,
	}, d.Code)
}

// halted reports whether a part is one of those that do not go on.
func halted(plan *pipelines.Pipeline, run metadata.Run, phase string) bool {
	return slices.ContainsFunc(Halts(plan, run), func(d Decision) bool { return d.Phase == phase })
}
