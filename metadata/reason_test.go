package metadata

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// bare are words that show how a reason is made up.
type bare struct{}

func (bare) Reason(code string, values map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		code += fmt.Sprintf(" %s=%s", name, values[name])
	}
	return "(" + code + ")"
}
func (bare) List(items []string) string    { return strings.Join(items, ",") }
func (bare) Sentences(all []string) string { return strings.Join(all, ";") }

func TestReasons(t *testing.T) {
	late := Because("late", "n", 2, "wait", 90*time.Second, "class", Network)
	for _, tt := range []struct {
		reason      Reason
		json, words string
	}{
		{"", `""`, ""},
		{Said("as they say"), `"as they say"`, "as they say"},
		{Said(`{"code":"late"}`), `"{\"code\":\"late\"}"`, `{"code":"late"}`}, // text is never taken for a code
		{Said(`"late"`), `"\"late\""`, `"late"`},
		{Said("a\xffb"), "\"a\uFFFDb\"", "a\uFFFDb"},
		{Because("done"), `{"code":"done"}`, "(done)"},
		{late, `{"code":"late","args":{"n":2,"wait":"1m30s","class":"network"}}`, "(late class=network n=2 wait=1m30s)"},
		{Because("again", "why", late), `{"code":"again","args":{"why":` + string(late) + `}}`, "(again why=" + late.In(bare{}) + ")"},
		{Because("again", "why", Said("{<b>}")), `{"code":"again","args":{"why":"{<b>}"}}`, "(again why={<b>})"},
		{Because("list", "files", []string{"a", "{b"}), `{"code":"list","args":{"files":["a","{b"]}}`, "(list files=a,{b)"},
		{All(), `""`, ""},
		{All("", Because("done"), ""), `{"code":"done"}`, "(done)"},
		{All(All(Because("done"), "x"), Said("{y")), `{"all":[{"code":"done"},"x","{y"]}`, "(done);x;{y"},
	} {
		data, err := jsonv2.Marshal(tt.reason)
		if err != nil || string(data) != tt.json {
			t.Errorf("%q is written as %s (%v), want %s", tt.reason, data, err, tt.json)
		}
		var back Reason
		if err := jsonv2.Unmarshal(data, &back); err != nil || back.In(bare{}) != tt.words {
			t.Errorf("%s reads as %q (%v), want %q", data, back.In(bare{}), err, tt.words)
		}
		if said := tt.reason.In(bare{}); strings.ToValidUTF8(said, "\uFFFD") != tt.words {
			t.Errorf("%q says %q, want %q", tt.reason, said, tt.words)
		}
		if valid := !strings.Contains(string(tt.reason), "\xff"); valid && back != tt.reason {
			t.Errorf("%q comes back as %q", tt.reason, back)
		}
	}
	for _, bad := range []string{`3`, `null`, `[]`, `{}`, `{"args":{}}`, `{"code":"a","all":[]}`} {
		var r Reason
		if err := jsonv2.Unmarshal([]byte(bad), &r); err == nil {
			t.Errorf("%s is taken as %q", bad, r)
		}
	}
	if d := cmp.Diff([]Reason{"a", Because("b")}, All("a", Because("b")).Each()); d != "" {
		t.Error(d)
	}
}
