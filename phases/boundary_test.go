package phases

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

const own = ".reprise/issue-7/01_code/"

func edge(access pipelines.Access) boundary {
	return boundary{
		access: access, state: ".reprise/issue-7", folder: strings.TrimSuffix(own, "/"), protect: []string{"LICENSE", "deploy/**", "*.pem"},
		limits: pipelines.Limits{Files: 5, Bytes: 1000, Binary: []string{"testdata/**"}},
	}
}

// Each row is one wish of an agent, and the rule that it breaks.
func TestRules(t *testing.T) {
	tests := map[string]struct {
		c    Change
		want metadata.Rule
	}{
		"a file":                      {Change{Path: "a.go", New: true}, ""},
		"a file that is gone":         {Change{Path: "a.go", Gone: true}, ""},
		"an artifact":                 {Change{Path: own + "code.md", New: true}, ""},
		"a drawing":                   {Change{Path: own + "x/flow.png", New: true, Holds: Binary}, ""},
		"another phase's folder":      {Change{Path: ".reprise/issue-7/00_plan/plan.md"}, metadata.RuleAccess},
		"another run":                 {Change{Path: ".reprise/issue-8/metadata.json"}, metadata.RuleAccess},
		"the folder's twin":           {Change{Path: ".Reprise/x", New: true}, metadata.RuleAccess},
		"the review":                  {Change{Path: own + "review.md"}, metadata.RuleProtected},
		"the review, louder":          {Change{Path: own + "REVIEW.md", New: true}, metadata.RuleProtected},
		"a patch":                     {Change{Path: own + "attempt-3.patch", New: true}, metadata.RuleProtected},
		"what is put aside":           {Change{Path: own + "superseded/1/code.md"}, metadata.RuleProtected},
		"a workflow":                  {Change{Path: ".github/workflows/ci.yml"}, metadata.RuleProtected},
		"a workflow that goes":        {Change{Path: ".github/workflows/ci.yml", Gone: true}, metadata.RuleProtected},
		"a workflow in capitals":      {Change{Path: ".GitHub/workflows/x.yml", New: true}, metadata.RuleProtected},
		"a workflow on macOS":         {Change{Path: ".git\u200chub/workflows/x.yml", New: true}, metadata.RuleProtected},
		"an action":                   {Change{Path: "sub/action.yml"}, metadata.RuleProtected},
		"where files are sent":        {Change{Path: ".lfsconfig"}, metadata.RuleProtected},
		"who owns the code":           {Change{Path: "docs/CODEOWNERS"}, metadata.RuleProtected},
		"the pipeline's own":          {Change{Path: "sub/LICENSE"}, metadata.RuleProtected},
		"the pipeline's own folder":   {Change{Path: "deploy/prod.tf"}, metadata.RuleProtected},
		"a file like that folder":     {Change{Path: "deploy", New: true}, metadata.RuleProtected},
		"the pipeline's own pattern":  {Change{Path: "keys/a.PEM", New: true}, metadata.RuleProtected},
		"instructions":                {Change{Path: "sub/CLAUDE.md", New: true}, metadata.RuleProtected},
		"instructions in small":       {Change{Path: "agents.MD", New: true}, metadata.RuleProtected},
		"instructions for one":        {Change{Path: "AGENTS.override.md", New: true}, metadata.RuleProtected},
		"settings":                    {Change{Path: "sub/.claude/settings.json", New: true}, metadata.RuleProtected},
		"a file like settings":        {Change{Path: ".claude", New: true}, metadata.RuleProtected},
		"skills":                      {Change{Path: ".agents/skills/x/SKILL.md", New: true}, metadata.RuleProtected},
		"variables":                   {Change{Path: "sub/.env", New: true}, metadata.RuleProtected},
		"variables as an example":     {Change{Path: ".env.example", New: true}, ""},
		"workflows of Gitea":          {Change{Path: ".gitea/workflows/x.yml", New: true}, metadata.RuleProtected},
		"jobs of GitLab":              {Change{Path: ".gitlab-ci.yml"}, metadata.RuleProtected},
		"a server of tools":           {Change{Path: ".mcp.json", New: true}, metadata.RuleProtected},
		"instructions as artifact":    {Change{Path: own + "CLAUDE.md", New: true}, metadata.RuleProtected},
		"settings as artifact":        {Change{Path: own + ".gemini/settings.json", New: true}, metadata.RuleProtected},
		"a license as artifact":       {Change{Path: own + "LICENSE", New: true}, ""},
		"what instructions lead to":   {Change{Path: "docs/agents.md", Behind: []string{"x", "AGENTS.md"}}, metadata.RuleProtected},
		"what another link leads to":  {Change{Path: "docs/x.md", Behind: []string{"latest"}}, ""},
		"a link":                      {Change{Path: "l", Kind: Symlink, New: true}, metadata.RuleForm},
		"a link in place of a file":   {Change{Path: "a.go", Kind: Symlink}, metadata.RuleForm},
		"a link that goes":            {Change{Path: "l", Kind: Symlink, Gone: true}, ""},
		"a link as artifact":          {Change{Path: own + "code.md", Kind: Symlink, New: true}, metadata.RuleForm},
		"a repository":                {Change{Path: "sub", Kind: Nested, New: true}, metadata.RuleForm},
		"a submodule that goes":       {Change{Path: "sub", Kind: Nested, Gone: true}, metadata.RuleForm},
		"a repository as artifact":    {Change{Path: own + "x/.git", Kind: Nested, New: true}, metadata.RuleForm},
		"a pipe":                      {Change{Path: "p", Kind: Other, New: true}, metadata.RuleForm},
		"inside .git":                 {Change{Path: "sub/.GIT/config", New: true}, metadata.RuleName},
		"inside git~1":                {Change{Path: "git~1/config", New: true}, metadata.RuleName},
		"a line break":                {Change{Path: "a\nb", New: true}, metadata.RuleName},
		"no UTF-8":                    {Change{Path: "a\xff", New: true}, metadata.RuleName},
		"a dot at the end":            {Change{Path: "a.", New: true}, metadata.RuleName},
		"a device":                    {Change{Path: "src/aux.c", New: true}, metadata.RuleName},
		"a device that is there":      {Change{Path: "src/aux.c"}, ""},
		"a device as artifact":        {Change{Path: own + "con.md", New: true}, metadata.RuleName},
		"a twin":                      {Change{Path: "readme.md", New: true, Twin: "README.md"}, metadata.RuleName},
		"a huge file":                 {Change{Path: "a.go", Size: maxFile + 1}, metadata.RuleSize},
		"a huge artifact":             {Change{Path: own + "a.md", Size: maxArtifact + 1}, metadata.RuleSize},
		"a program":                   {Change{Path: "tool", New: true, Holds: Program, Runs: true}, metadata.RuleContent},
		"a program in place of code":  {Change{Path: "a.go", Holds: Program, Held: Text}, metadata.RuleContent},
		"a program called an image":   {Change{Path: "a.png", New: true, Holds: Program}, metadata.RuleContent},
		"a new build of a program":    {Change{Path: "tool", Holds: Program, Held: Program}, ""},
		"a program that is allowed":   {Change{Path: "testdata/hello", New: true, Holds: Program, Runs: true}, ""},
		"a program as artifact":       {Change{Path: own + "tool", New: true, Holds: Program}, metadata.RuleContent},
		"an unknown binary":           {Change{Path: "a.bin", New: true, Holds: Binary}, metadata.RuleContent},
		"a known binary":              {Change{Path: "a.bin", Holds: Binary, Held: Binary}, ""},
		"a font":                      {Change{Path: "a.WOFF2", New: true, Holds: Binary}, ""},
		"a script":                    {Change{Path: "run.sh", New: true, Holds: Script, Runs: true}, ""},
		"a script that becomes one":   {Change{Path: "run.sh", Holds: Script, Runs: true}, ""},
		"a text that can be run":      {Change{Path: "run", New: true, Holds: Text, Runs: true}, metadata.RuleContent},
		"a text that becomes so":      {Change{Path: "a.go", Holds: Text, Runs: true}, metadata.RuleContent},
		"an artifact that can be run": {Change{Path: own + "x.sh", New: true, Holds: Script, Runs: true}, metadata.RuleContent},
		"the worst comes first":       {Change{Path: ".github/x", Kind: Symlink, New: true}, metadata.RuleForm},
		"a space at the end":          {Change{Path: ".github /x", New: true}, metadata.RuleProtected},
	}
	for name, test := range tests {
		if test.c.Kind == "" {
			test.c.Kind = File
		}
		got, why := edge(pipelines.AccessTree).rule(test.c)
		if got != test.want || (got == "") != (why == "") {
			t.Errorf("%s: breaks %q (%s), want %q", name, got, why, test.want)
		}
		for _, access := range []pipelines.Access{pipelines.AccessNone, pipelines.AccessRead} {
			if got, _ := edge(access).rule(test.c); got != metadata.RuleAccess {
				t.Errorf("%s, with access %s: breaks %q", name, access, got)
			}
		}
		got, _ = edge(pipelines.AccessArtifacts).rule(test.c)
		if inside := strings.HasPrefix(test.c.Path, own); got == "" && !inside && (test.c.Kind == File || test.c.Gone) || inside && got != test.want {
			t.Errorf("%s, with access to artifacts: breaks %q", name, got)
		}
	}
}

func TestContentOf(t *testing.T) {
	tar := strings.Repeat("x\x00", 128) + "\x00ustar"
	for head, want := range map[string]Content{
		"": Text, "package x\n": Text, "漢字": Text, "MZ is how it begins": Text, "#!/bin/sh\n": Script, "\xff\xfe": Text,
		"a\x00b": Binary, "#!/bin/sh\n\x00": Binary, "\x89PNG\r\n\x1a\n\x00": Binary, strings.Repeat("a", HeadSize) + "\x00": Text,
		"\x7fELF\x02": Program, "MZ\x90\x00": Program, "\xca\xfe\xba\xbe": Program, "\xcf\xfa\xed\xfe": Program, "\x00asm\x01": Program,
		"PK\x03\x04": Program, "\x1f\x8b\x08": Program, "!<arch>\n": Program, "BZh91AY&SY": Program, tar: Program,
	} {
		if got := ContentOf([]byte(head)); got != want {
			t.Errorf("%.20q is %s, want %s", head, got, want)
		}
	}
}

func TestCaps(t *testing.T) {
	files := func(folder string, n int, size int64) []Change {
		var out []Change
		for i := range n {
			out = append(out, Change{Path: fmt.Sprintf("%s%d.txt", folder, i), Kind: File, New: true, Size: size})
		}
		return out
	}
	gone := func(all []Change) []Change {
		for i := range all {
			all[i].New, all[i].Gone = false, true
		}
		return all
	}
	tests := map[string]struct {
		changes              []Change
		artifacts, tree, out int // how many stay, and how many are taken back
		why                  string
	}{
		"as many as may be":           {append(files(own, 2, 1), files("", 3, 1)...), 2, 3, 0, ""},
		"one more":                    {append(files(own, 2, 1), files("", 4, 1)...), 2, 0, 4, "6 changed files (such as"},
		"removed ones count":          {append(files("a", 3, 0), gone(files("b", 3, 0))...), 0, 0, 6, "at most 5 files"},
		"as much as may be":           {append(files(own, 1, 400), files("", 2, 300)...), 1, 2, 0, ""},
		"a byte more":                 {append(files(own, 1, 401), files("", 2, 300)...), 1, 0, 2, "they have 1001 bytes, and a step may change at most 1kB"},
		"what is gone has no bytes":   {append(files("a", 1, 1000), gone(files("b", 1, 1000))...), 0, 2, 0, ""},
		"too many artifacts":          {files(own, 6, 1), 0, 0, 6, "6 changed files"},
		"too many artifacts and more": {append(files(own, 6, 1), files("", 1, 1)...), 0, 0, 7, "7 changed files"},
		"what breaks a rule is not counted": {
			append(files("", 5, 1), Change{Path: ".github/x", Kind: File, Size: 2000}), 0, 5, 1, "",
		},
		"the record is not counted": {append(files("", 5, 1), Change{Path: ".reprise/issue-7/metadata.json", Kind: File, Size: 2000}), 0, 5, 0, ""},
	}
	for name, test := range tests {
		s := edge(pipelines.AccessTree).sort(test.changes)
		if len(s.artifacts) != test.artifacts || len(s.tree) != test.tree || len(s.undo) != test.out || len(s.present) > test.artifacts+test.tree {
			t.Errorf("%s: %d artifacts and %d of the tree stay, %d are taken back", name, len(s.artifacts), len(s.tree), len(s.undo))
		}
		if (s.over == "") != (test.why == "") || !strings.Contains(Say("en", s.over), test.why) {
			t.Errorf("%s: %q, want %q in it", name, s.over, test.why)
		}
		if slices.Contains(s.broke, metadata.RuleSize) != (test.why != "") {
			t.Errorf("%s: broke %q", name, s.broke)
		}
	}
}

// puts writes files into the tree before the agent does its work well.
func (s *stage) puts(names ...string) func(context.Context, Task) (Result, error) {
	return func(ctx context.Context, t Task) (Result, error) {
		for _, name := range names {
			name = filepath.Join(t.Dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return Result{}, err
			}
			if err := os.WriteFile(name, []byte("evil"), 0o644); err != nil {
				return Result{}, err
			}
		}
		return s.good(ctx, t)
	}
}

// What broke a rule is told word for word to whoever comes next, a reviewer
// included, also when no further round follows.
func TestViolationsAreTold(t *testing.T) {
	plan := testPlan()
	plan.Phases[1].Revisions = 1
	s := newStage(t, plan)
	s.on("code", metadata.Execute, s.puts(".github/workflows/x.yml"))
	s.on("code", metadata.Revise, s.puts("con.go"))
	s.on("code", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, false)}, nil
	})
	run := s.goOn(t.Context())
	if run.Stop == nil || run.Stop.Code != metadata.ReviewFailed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	told := map[metadata.Step][]string{}
	for _, task := range s.tasks {
		if task.Phase != "code" || task.Step == metadata.Execute {
			continue
		}
		for _, v := range []string{".github/workflows/x.yml: a protected path", "con.go: its name cannot be kept on Windows"} {
			if strings.Contains(task.Prompt, v) {
				told[task.Step] = append(told[task.Step], v[:3])
			}
		}
	}
	want := map[metadata.Step][]string{metadata.Review: {".gi", "con"}, metadata.Revise: {".gi"}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("what they were told (-want +got):\n%s", diff)
	}
	if got := run.Attempts[2].Broke + " " + run.Attempts[5].Broke; got != "protected name" {
		t.Errorf("the record says they broke %q", got)
	}
	// After a retry the next revise is still told.
	next, err := Retry(plan, run, "", Start{At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	s.run = next
	calls := len(s.tasks)
	s.goOn(t.Context())
	if task := s.tasks[calls]; task.Step != metadata.Revise || !strings.Contains(task.Prompt, "con.go: its name cannot be kept on Windows") {
		t.Errorf("%s after the retry is told:\n%s", task.Step, task.Prompt)
	}
}

// A call that crashes says nothing about what stood against the work before it.
func TestACrashDoesNotHideWhatWasTakenBack(t *testing.T) {
	plan := testPlan()
	run := freshRun(plan)
	run = play(t, plan, run, Decide(plan, run), breaking(wrotten("p1"), metadata.RuleForm))
	run = play(t, plan, run, Decide(plan, run), verdict(false, blocker("F1")))
	run = play(t, plan, run, Decide(plan, run), errored(metadata.Crash))
	if got := feedbackOf(run, run.Phase("plan"), Decide(plan, run)); len(got.Violations) != 1 {
		t.Errorf("the next call is told %q", got.Violations)
	}
}

func TestTheSecondTimeAPersonIsAsked(t *testing.T) {
	s := newStage(t, testPlan())
	s.on("code", metadata.Execute, s.puts(".github/workflows/x.yml"))
	s.on("code", metadata.Revise, s.puts("sub/CLAUDE.md", "kept.go"))
	s.on("code", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		return Result{Structured: answer(t, t.Round > 0)}, nil
	})
	run := s.goOn(t.Context())
	if run.Status != metadata.Waiting || run.Stop.Code != metadata.ProtectedPath || !strings.Contains(Say("en", run.Stop.Why), "sub/CLAUDE.md: a protected path") {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	last := run.Attempts[len(run.Attempts)-1]
	if last.Status != metadata.Blocked || last.Code != metadata.ProtectedPath || last.Broke != "protected" {
		t.Errorf("the attempt is %+v", last)
	}
	if s.tree.tip()["kept.go"] != "evil" || s.tree.tip()["sub/CLAUDE.md"] != "" {
		t.Error("what the rules allow should be kept, and nothing else")
	}
	if !strings.Contains(s.tree.log[len(s.tree.log)-1].Message, "sub/CLAUDE.md") {
		t.Errorf("the commit does not say why:\n%s", s.tree.log[len(s.tree.log)-1].Message)
	}
	if anew := TakeUp(run, Start{At: run.UpdatedAt, Refresh: true}); anew.Status != metadata.Running || Decide(s.engine.Plan, anew).Final() {
		t.Errorf("with a new definition the run is %s: %s", anew.Status, Decide(s.engine.Plan, anew))
	}
	if same := TakeUp(run, Start{At: run.UpdatedAt}); same.Status != metadata.Waiting {
		t.Errorf("started again the run is %s, want it to wait for a person", same.Status)
	}
	// A retry gives a fresh allowance: the step is done again, and may fail once.
	next, err := Retry(s.engine.Plan, run, "", Start{At: run.UpdatedAt})
	if err != nil {
		t.Fatal(err)
	}
	s.run = next
	if run = s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("after the retry the run is %s (%+v)", run.Status, run.Stop)
	}
}

func TestTooMuchIsTakenBack(t *testing.T) {
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("gen/%d.go", i))
	}
	for _, always := range []bool{false, true} {
		s := newStage(t, testPlan())
		calls := 0
		s.on("code", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
			if calls++; calls == 1 || always {
				return s.puts(many...)(ctx, t)
			}
			return s.good(ctx, t)
		})
		run := s.goOn(t.Context())
		if a := run.Attempts[2]; a.Status != metadata.Unsuccessful || a.Code != metadata.PatchTooLarge || a.Broke != "size" || !strings.Contains(Say("en", a.Why), "103 changed files (such as") {
			t.Errorf("the first attempt is %+v", a)
		}
		if prompt := s.tasks[3].Prompt; !strings.Contains(prompt, "at most 100 files") {
			t.Errorf("the next call is not told:\n%s", prompt)
		}
		if !strings.HasPrefix(s.tree.tip()[own+"code.md"], "code") {
			t.Error("the artifact, which is within the limits, is gone")
		}
		for name := range s.tree.tip() {
			if strings.HasPrefix(name, "gen/") {
				t.Fatalf("%s was kept", name)
			}
		}
		switch {
		case !always && run.Status != metadata.Completed:
			t.Errorf("with less the run is %s (%+v)", run.Status, run.Stop)
		case always && (run.Status != metadata.Waiting || run.Stop.Code != metadata.PatchTooLarge || !strings.Contains(Say("en", run.Stop.Why), "103 changed files")):
			t.Errorf("with as much again the run is %s (%+v)", run.Status, run.Stop)
		}
	}
}
