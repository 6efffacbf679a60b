package world

import (
	"errors"

	"cuelang.org/go/cue"
	cueerrors "cuelang.org/go/cue/errors"
	cuejson "cuelang.org/go/encoding/json"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// FitsSchema holds the newest record of a run's branch against the schema that is
// there for other programs, as the command cue vet would.
func FitsSchema(repo, branch, id string) error {
	text, err := testenv.Git(repo, "show", RecordAt(repo, branch)+":"+phases.RecordFile(id))
	if err != nil {
		return err
	}
	ctx := source.NewContext()
	schema := ctx.CompileString(metadata.SchemaCUE)
	expr, err := cuejson.Extract(branch, []byte(text))
	if err = errors.Join(err, schema.Err()); err != nil {
		return err
	}
	record := ctx.BuildExpr(expr)
	if err := schema.LookupPath(cue.ParsePath("#Run")).Unify(record).Validate(cue.Concrete(true)); err != nil {
		return errors.New("the record is not as schema.cue has it: " + cueerrors.Details(err, nil))
	}
	return nil
}
