package metadata

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
	cuejson "cuelang.org/go/encoding/json"
	jsonv2 "github.com/go-json-experiment/json"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// runSchema is what schema.cue says of a record.
func runSchema(t *testing.T) cue.Value {
	t.Helper()
	schema := cuecontext.New().CompileString(SchemaCUE)
	testenv.Must(t, schema.Err())
	return schema.LookupPath(cue.ParsePath("#Run"))
}

// vetted says in what a record is not as the schema has it: what the command
// at the top of schema.cue says.
func vetted(schema cue.Value, record []byte) error {
	expr, err := cuejson.Extract(File, record)
	if err != nil {
		return err
	}
	if err := schema.Unify(cuecontext.New().BuildExpr(expr)).Validate(cue.Concrete(true)); err != nil {
		return errors.New(cueerrors.Details(err, nil))
	}
	return nil
}

func TestSchemaTakesTheGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/version-*.json")
	if err != nil || len(files) != Schema-oldest+1 {
		t.Fatalf("there are golden files %q of %d versions (%v)", files, Schema, err)
	}
	data, err := os.ReadFile(files[Schema-oldest]) // older ones have schemas of their own
	testenv.Must(t, err)
	if err := vetted(runSchema(t), data); err != nil {
		t.Error(err)
	}
}

// leftOut finds the mistakes that the schema says it leaves to reprise.
var leftOut = regexp.MustCompile(`there is no|of an earlier|out of order|more than the \d+ attempts|taken before|does not go with|` +
	`no issue was opened|"unit" failed, but|contains a credential, token|nested deeper`)

// TestSchemaRefusesMistakes holds the schema to refuse what Check refuses.
func TestSchemaRefusesMistakes(t *testing.T) {
	schema := runSchema(t)
	for want, change := range mistakes(t) {
		r := sample()
		change(&r)
		record, err := jsonv2.Marshal(&r)
		if err != nil || leftOut.MatchString(want) {
			continue // it cannot even be written, such as a number that is none
		}
		if vetted(schema, record) == nil {
			t.Errorf("the schema takes this: %s", want)
		}
	}
}
