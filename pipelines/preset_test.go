package pipelines_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
)

func TestCut(t *testing.T) {
	p := &pipelines.Pipeline{Name: "p", Phases: []pipelines.Phase{{Name: "a"}, {Name: "b", Needs: []string{"a"}}, {Name: "c", Needs: []string{"a", "b"}}, {Name: "d", Needs: []string{"c"}}}}
	for _, tt := range []struct {
		name string
		part pipelines.Part
		want string // phases with what they need
		says []string
	}{
		{"all", pipelines.Part{}, "a b<a c<a,b d<c", nil},
		{"from", pipelines.Part{From: "b"}, "b c<b d<c", nil},
		{"until", pipelines.Part{Until: "b"}, "a b<a", nil},
		{"from and until", pipelines.Part{From: "b", Until: "c"}, "b c<b", nil},
		{"only", pipelines.Part{Only: "c"}, "c", nil},
		{"skip", pipelines.Part{Skip: []string{"b", "d"}}, "a c<a", nil},
		{"nothing is left", pipelines.Part{From: "c", Until: "b"}, "", []string{`no phase of pipeline "p" is left: its phases are a, b, c, d`}},
		{"skip all", pipelines.Part{Skip: []string{"a", "b", "c", "d"}}, "", []string{"no phase"}},
		{"mistakes", pipelines.Part{From: "x", Skip: []string{"y", "a"}}, "", []string{`no phase "x"`, `no phase "y"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pipelines.Cut(p, tt.part)
			for _, text := range tt.says {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Errorf("the error is %v, want %q in it", err, text)
				}
			}
			if len(tt.says) > 0 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, ph := range got.Phases {
				name := ph.Name
				if len(ph.Needs) > 0 {
					name += "<" + strings.Join(ph.Needs, ",")
				}
				names = append(names, name)
			}
			if !slices.Equal(names, strings.Fields(tt.want)) {
				t.Errorf("phases %q, want %q", names, tt.want)
			}
		})
	}
	if len(p.Phases) != 4 || len(p.Phases[2].Needs) != 2 {
		t.Errorf("the pipeline itself was changed: %+v", p.Phases)
	}
}
