package metadata

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// same ignores what JSON cannot tell apart: an empty list and none.
var same = cmpopts.EquateEmpty()

func TestFormatIsTheGoldenFile(t *testing.T) {
	want := testenv.Read(t, "testdata/version-4.json")
	got := formatted(t, sample())
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the format changed (-golden +now); if a release has it, it needs a new version and a migration:\n%s", diff)
	}
}

// TestEveryVersionParses reads the golden file of each version from the oldest that is read:
// version 3 had changes of notes, which nothing is done about any more, and events that hooks
// had not taken, instead of how far they were told.
func TestEveryVersionParses(t *testing.T) {
	for version := oldest; version <= Schema; version++ {
		name := fmt.Sprintf("testdata/version-%d.json", version)
		data := []byte(testenv.Read(t, name))
		got, err := Parse(data, name)
		testenv.Must(t, err)
		want := sample()
		if version < 4 {
			want.Execution.Told, want.Unchecked, want.Attempts[0].Usage.Unknown = nil, "", false
			for i := range want.Phases {
				want.Phases[i].Best = nil
				if c := want.Phases[i].Checks; c != nil {
					c.OwnSetup = false
				}
				if v := want.Phases[i].Verdict; v != nil {
					v.Commit, v.Findings[0].Proof, v.Findings[0].Late, v.Unbound = "", "", "", false
				}
			}
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, broken := range []string{string(data[:len(data)/2]), string(data) + "x", strings.Replace(string(data), `"revision"`, `"schema"`, 1)} {
			if _, err := Parse([]byte(broken), name); err == nil {
				t.Errorf("%s is read though it is broken", name)
			}
		}
	}
}

// A record from before phases could ask for issues reads as one of now that
// has none.
func TestARecordWithoutChildren(t *testing.T) {
	r := sample()
	r.Children = nil
	data, err := Format(r)
	if err != nil || strings.Contains(string(data), "children") {
		t.Fatalf("children are in it, or %v", err)
	}
	got, err := Parse(data, File)
	testenv.Must(t, err)
	if diff := cmp.Diff(r, got, same); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A record from before paths in a .git folder were refused may mention some:
// it is read, and saved again.
func TestARecordThatMentionsGitsFolder(t *testing.T) {
	r := sample()
	r.Tasks[0].Files = []string{".git/hooks/pre-commit"}
	for i := range r.Phases {
		if v := r.Phases[i].Verdict; v != nil && len(v.Findings) > 0 {
			v.Findings[0].File = "sub/.git/config"
		}
	}
	data := formatted(t, r)
	if strings.Count(string(data), ".git/") < 2 {
		t.Fatalf("it mentions none:\n%s", data)
	}
	if _, err := Parse(data, File); err != nil {
		t.Error(err)
	}
}

func TestPhasesKeepTheirOrder(t *testing.T) {
	names := strings.Fields("z-last a-first m k z b y_1")
	r := sample()
	r.CurrentPhase, r.Stop.Phase = "", ""
	r.RollbackHistory, r.Attempts, r.Decisions, r.AllowanceFrom = nil, nil, nil, 0
	r.Tasks, r.Questions, r.Approvals, r.Children, r.Reviews, r.Merges = nil, nil, nil, nil, nil, nil
	r.Phases = nil
	for _, n := range names {
		r.Phases = append(r.Phases, Phase{Name: n, Status: PhasePending})
	}
	data := formatted(t, r)
	parsed, err := Parse(data, File)
	testenv.Must(t, err)
	if diff := cmp.Diff(r.Phases, parsed.Phases, same); diff != "" {
		t.Errorf("Format and Parse (-want +got):\n%s", diff)
	}

	data, err = json.Marshal(r)
	testenv.Must(t, err)
	var plain Run
	testenv.Must(t, json.Unmarshal(data, &plain))
	if diff := cmp.Diff(r.Phases, plain.Phases, same); diff != "" {
		t.Errorf("encoding/json (-want +got):\n%s", diff)
	}
}

func TestPhasesRefuseANameTwice(t *testing.T) {
	var ps Phases
	if err := json.Unmarshal([]byte(`{"a":{"status":"pending"},"a":{"status":"failed"}}`), &ps); err == nil {
		t.Errorf("read as %v", ps)
	}
	if data, err := json.Marshal(Phases{{Name: "a"}, {Name: "a"}}); err == nil {
		t.Errorf("written as %s", data)
	}
}

func TestPhase(t *testing.T) {
	r := sample()
	r.Phase("design").RetryCount = 2
	if got := r.Phases[1].RetryCount; got != 2 {
		t.Errorf("what is written through Phase does not reach the run: retry count %d", got)
	}
	if p := r.Phase("deploy"); p != nil {
		t.Errorf("an unknown phase is %v, want nil", p)
	}
}

func TestFormatKeepsText(t *testing.T) {
	r := sample()
	r.IssueTitle = `<b>&amp; "quoted" \ 漢字 ` + "\u2028\t"
	r.Stop.Why = "cut in the middle of a letter: \xe6\xbc"
	r.Phases[0].Report = json.RawMessage("{ \"a\\u003c\" : [ 1.50 , -0, 12345678901234567890 ] }")
	data := formatted(t, r)
	if !strings.Contains(string(data), `<b>&amp; \"quoted\" \\ 漢字`) {
		t.Error("the title is escaped more than JSON asks for")
	}
	got, err := Parse(data, File)
	testenv.Must(t, err)
	if got.IssueTitle != r.IssueTitle {
		t.Errorf("title: got %q, want %q", got.IssueTitle, r.IssueTitle)
	}
	if want := "cut in the middle of a letter: \uFFFD"; !strings.HasPrefix(string(got.Stop.Why), want) {
		t.Errorf("stop.why: got %q, want %q", got.Stop.Why, want)
	}
	if want := `{"a<":[1.50,-0,12345678901234567890]}`; string(got.Phases[0].Report) != want {
		t.Errorf("report: got %s, want %s", got.Phases[0].Report, want)
	}
	again := formatted(t, got)
	if diff := cmp.Diff(string(data), string(again)); diff != "" {
		t.Errorf("a second trip changes the text:\n%s", diff)
	}
}

func TestFormatRefusesAnInvalidRun(t *testing.T) {
	r := sample()
	r.Language = "klingon"
	if data, err := Format(r); err == nil || data != nil {
		t.Errorf("got %d bytes and %v", len(data), err)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	r := sample()
	c := r.Clone()
	if diff := cmp.Diff(r, c); diff != "" {
		t.Fatalf("the clone differs (-original +clone):\n%s", diff)
	}
	shared(t, "Run", reflect.ValueOf(r), reflect.ValueOf(c))

	if diff := cmp.Diff(Run{}, Run{}.Clone()); diff != "" {
		t.Errorf("the clone of the zero value differs:\n%s", diff)
	}
}

// shared fails the test for each pointer, list and map that a and b share.
// TestSampleFillsEveryField sees to it that none is missed for being empty.
func shared(t *testing.T, path string, a, b reflect.Value) {
	if a.Type() == reflect.TypeFor[time.Time]() {
		return // cannot be changed through a copy
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		empty := a.Kind() == reflect.Slice && a.Cap() == 0 // all of these are one
		if !empty && !a.IsNil() && a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", path)
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			shared(t, path, a.Elem(), b.Elem())
		}
	case reflect.Slice:
		for i := range a.Len() {
			shared(t, fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			shared(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Map, reflect.Array, reflect.Interface, reflect.Chan, reflect.Func:
		if a.Kind() != reflect.Map || a.Type().Elem().Kind() != reflect.String {
			t.Errorf("%s is a %s, which this test does not look into", path, a.Type())
		}
	}
}
