package source

import (
	"encoding/json"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestQuotedTypes(t *testing.T) {
	for report, want := range map[string]string{
		`{"properties": {"risk": {"enum": ["string"]}}}`:                               "risk string",
		`{"properties": {"all": {"items": {"properties": {"n": {"enum": ["int"]}}}}}}`: "all[].n int",
		`{"properties": {"risk": {"enum": ["low"]}}}`:                                  " ",
		`null`: " ",
	} {
		var s schema
		testenv.Must(t, json.Unmarshal([]byte(report), &s))
		if field, word := s.quotedType(""); field+" "+word != want {
			t.Errorf("%s: %s %s, want %s", report, field, word, want)
		}
	}
}
