package phases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

const own = ".reprise/issue-7/01_code/"

func edge(access pipelines.Access) Boundary {
	return Boundary{
		access: access, state: ".reprise/issue-7", folder: strings.TrimSuffix(own, "/"),
		plan: &pipelines.Pipeline{Protect: []string{"LICENSE", "deploy/**", "*.pem"}, Limits: pipelines.Limits{Files: 5, Bytes: 1000, Binary: []string{"testdata/**"}}},
	}
}

func changed(path string) Change { return Change{Path: path, Kind: FileKind} }

func added(path string) Change { return Change{Path: path, Kind: FileKind, New: true} }

func removed(path string) Change { return Change{Path: path, Kind: FileKind, Gone: true} }

// Each row is one wish of an agent, and the rule that it breaks.
func TestRules(t *testing.T) {
	tests := map[string]struct {
		c    Change
		want metadata.Rule
	}{
		"a file":                     {added("a.go"), ""},
		"a file that is gone":        {removed("a.go"), ""},
		"an artifact":                {added(own + "code.md"), ""},
		"a drawing":                  {Change{Path: own + "x/flow.png", New: true, Holds: binaryContent}, ""},
		"another phase's folder":     {changed(".reprise/issue-7/00_plan/plan.md"), metadata.RuleAccess},
		"another run":                {changed(".reprise/issue-8/metadata.json"), metadata.RuleAccess},
		"the folder's alias":         {added(".Reprise/x"), metadata.RuleAccess},
		"the review":                 {changed(own + "review.md"), metadata.RuleProtected},
		"the review, louder":         {added(own + "REVIEW.md"), metadata.RuleProtected},
		"a patch":                    {added(own + "attempt-3.patch"), metadata.RuleProtected},
		"what is put aside":          {changed(own + "superseded/1/code.md"), metadata.RuleProtected},
		"a workflow":                 {changed(".github/workflows/ci.yml"), metadata.RuleProtected},
		"a workflow that goes":       {removed(".github/workflows/ci.yml"), metadata.RuleProtected},
		"a workflow in capitals":     {added(".GitHub/workflows/x.yml"), metadata.RuleProtected},
		"a workflow on macOS":        {added(".git\u200chub/workflows/x.yml"), metadata.RuleProtected},
		"an action":                  {changed("sub/action.yml"), metadata.RuleProtected},
		"where files are sent":       {changed(".lfsconfig"), metadata.RuleProtected},
		"who owns the code":          {changed("docs/CODEOWNERS"), metadata.RuleProtected},
		"the pipeline's own":         {changed("sub/LICENSE"), metadata.RuleProtected},
		"the pipeline's own folder":  {changed("deploy/prod.tf"), metadata.RuleProtected},
		"a file like that folder":    {added("deploy"), metadata.RuleProtected},
		"the pipeline's own pattern": {added("keys/a.PEM"), metadata.RuleProtected},
		"instructions":               {added("sub/CLAUDE.md"), metadata.RuleProtected},
		"instructions in small":      {added("agents.MD"), metadata.RuleProtected},
		"instructions for one":       {added("AGENTS.override.md"), metadata.RuleProtected},
		"settings":                   {added("sub/.claude/settings.json"), metadata.RuleProtected},
		"a file like settings":       {added(".claude"), metadata.RuleProtected},
		"skills":                     {added(".agents/skills/x/SKILL.md"), metadata.RuleProtected},
		"variables":                  {added("sub/.env"), metadata.RuleProtected},
		"variables as an example":    {added(".env.example"), ""},
		"workflows of Gitea":         {added(".gitea/workflows/x.yml"), metadata.RuleProtected},
		"jobs of GitLab":             {changed(".gitlab-ci.yml"), metadata.RuleProtected},
		"a server of tools":          {added(".mcp.json"), metadata.RuleProtected},
		"instructions as artifact":   {added(own + "CLAUDE.md"), metadata.RuleProtected},
		"settings as artifact":       {added(own + ".gemini/settings.json"), metadata.RuleProtected},
		"a license as artifact":      {added(own + "LICENSE"), ""},
		"what instructions lead to":  {Change{Path: "docs/agents.md", LinkedFrom: []string{"x", "AGENTS.md"}}, metadata.RuleProtected},
		"what another link leads to": {Change{Path: "docs/x.md", LinkedFrom: []string{"latest"}}, ""},
		"a link":                     {Change{Path: "l", Kind: SymlinkKind, New: true}, metadata.RuleForm},
		"a link in place of a file":  {Change{Path: "a.go", Kind: SymlinkKind}, metadata.RuleForm},
		"a link that goes":           {Change{Path: "l", Kind: SymlinkKind, Gone: true}, ""},
		"a link as artifact":         {Change{Path: own + "code.md", Kind: SymlinkKind, New: true}, metadata.RuleForm},
		"a repository":               {Change{Path: "sub", Kind: NestedKind, New: true}, metadata.RuleForm},
		"a submodule that goes":      {Change{Path: "sub", Kind: NestedKind, Gone: true}, metadata.RuleForm},
		"a repository as artifact":   {Change{Path: own + "x/.git", Kind: NestedKind, New: true}, metadata.RuleForm},
		"a pipe":                     {Change{Path: "p", Kind: OtherKind, New: true}, metadata.RuleForm},
		"inside .git":                {added("sub/.GIT/config"), metadata.RuleName},
		"inside git~1":               {added("git~1/config"), metadata.RuleName},
		"a line break":               {added("a\nb"), metadata.RuleName},
		"no UTF-8":                   {added("a\xff"), metadata.RuleName},
		"a dot at the end":           {added("a."), metadata.RuleName},
		"a device":                   {added("src/aux.c"), metadata.RuleName},
		"a device that is there":     {changed("src/aux.c"), ""},
		"a device as artifact":       {added(own + "con.md"), metadata.RuleName},
		"an alias":                   {Change{Path: "readme.md", New: true, Alias: "README.md"}, metadata.RuleName},
		"a huge file":                {Change{Path: "a.go", Size: MaxFile + 1}, metadata.RuleSize},
		"a huge artifact":            {Change{Path: own + "a.md", Size: maxArtifact + 1}, metadata.RuleSize},
		"a program":                  {Change{Path: "tool", New: true, Holds: ProgramContent, Runs: true}, metadata.RuleContent},
		"a program in place of code": {Change{Path: "a.go", Holds: ProgramContent, Held: TextContent}, metadata.RuleContent},
		"a program called an image":  {Change{Path: "a.png", New: true, Holds: ProgramContent}, metadata.RuleContent},
		"a new build of a program":   {Change{Path: "tool", Holds: ProgramContent, Held: ProgramContent}, ""},
		"a program that is allowed":  {Change{Path: "testdata/hello", New: true, Holds: ProgramContent, Runs: true}, ""},
		"a program as artifact":      {Change{Path: own + "tool", New: true, Holds: ProgramContent}, metadata.RuleContent},
		"a program that was moved":   {Change{Path: "lib/tool", New: true, Holds: ProgramContent, Held: ProgramContent, Runs: true}, ""},
		"an unknown binary":          {Change{Path: "a.bin", New: true, Holds: binaryContent}, metadata.RuleContent},
		"a known binary":             {Change{Path: "a.bin", Holds: binaryContent, Held: binaryContent}, ""},
		"a font":                     {Change{Path: "a.WOFF2", New: true, Holds: binaryContent}, ""},
		"a script":                   {Change{Path: "run.sh", New: true, Holds: ScriptContent, Runs: true}, ""},
		"a script that becomes one":  {Change{Path: "run.sh", Holds: ScriptContent, Runs: true}, ""},
		"a text that can be run":     {Change{Path: "run", New: true, Holds: TextContent, Runs: true}, metadata.RuleContent},
		"a text that becomes so":     {Change{Path: "a.go", Holds: TextContent, Runs: true}, metadata.RuleContent},
		"the worst comes first":      {Change{Path: ".github/x", Kind: SymlinkKind, New: true}, metadata.RuleForm},
		"a space at the end":         {added(".github /x"), metadata.RuleProtected},
	}
	for name, test := range tests {
		if test.c.Kind == "" {
			test.c.Kind = FileKind
		}
		got, why := edge(pipelines.AccessTree).Rule(test.c)
		if got != test.want || (got == "") != (why == "") {
			t.Errorf("%s: breaks %q (%s), want %q", name, got, why, test.want)
		}
		for _, access := range []pipelines.Access{pipelines.AccessNone, pipelines.AccessRead} {
			if got, _ := edge(access).Rule(test.c); got != metadata.RuleAccess {
				t.Errorf("%s, with access %s: breaks %q", name, access, got)
			}
		}
		got, _ = edge(pipelines.AccessArtifacts).Rule(test.c)
		if inside := strings.HasPrefix(test.c.Path, own); got == "" && !inside && (test.c.Kind == FileKind || test.c.Gone) || inside && got != test.want {
			t.Errorf("%s, with access to artifacts: breaks %q", name, got)
		}
	}
}

// At a path that the pipeline opens a person is asked about a text, and about nothing else.
func TestOpenedPaths(t *testing.T) {
	const ci = ".github/workflows/ci.yml"
	b := edge(pipelines.AccessTree)
	b.plan.Open = []string{ci, "AGENTS.md", ".github/workflows/*.pem"}
	for name, tt := range map[string]struct {
		c    Change
		want bool
	}{
		"a text":                     {Change{Path: ci}, true},
		"a new one":                  {added("AGENTS.md"), true},
		"another":                    {added(".github/workflows/other.yml"), false},
		"another spelling":           {changed(".github/workflows/CI.yml"), false},
		"in another folder":          {added("docs/AGENTS.md"), false},
		"one that goes":              {Change{Path: ci, Gone: true}, false},
		"a link":                     {Change{Path: ci, Kind: SymlinkKind}, false},
		"a repository":               {Change{Path: ci, Kind: NestedKind}, false},
		"a binary":                   {Change{Path: ci, Holds: binaryContent}, false},
		"a program":                  {Change{Path: ci, Holds: ProgramContent}, false},
		"a right to run":             {Change{Path: ci, Holds: ScriptContent, Runs: true}, false},
		"a large one":                {Change{Path: ci, Size: 64<<10 + 1}, false},
		"in Git LFS":                 {Change{Path: ci, Large: true}, false},
		"what another link leads to": {Change{Path: ci, LinkedFrom: []string{"x"}}, false},
		"a name like another":        {Change{Path: ci, New: true, Alias: ".github/workflows/CI.yml"}, false},
		"what the pipeline protects": {added(".github/workflows/a.pem"), false},
	} {
		if tt.c.Kind == "" {
			tt.c.Kind = FileKind
		}
		if tt.c.Holds == "" {
			tt.c.Holds = TextContent
		}
		if s := b.Sort([]Change{tt.c}); (len(s.Opened) == 1) != tt.want || len(s.Opened)+len(s.Undo) != 1 || len(s.Tree) > 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for _, access := range []pipelines.Access{pipelines.AccessNone, pipelines.AccessRead, pipelines.AccessArtifacts} {
		b := b
		b.access = access
		if s := b.Sort([]Change{{Path: ci, Kind: FileKind, Holds: TextContent}}); len(s.Opened) > 0 || len(s.Undo) != 1 {
			t.Errorf("with access %s: %+v", access, s)
		}
	}
}

func TestContentOf(t *testing.T) {
	tar := strings.Repeat("x\x00", 128) + "\x00ustar"
	for head, want := range map[string]content{
		"": TextContent, "package x\n": TextContent, "漢字": TextContent, "MZ is how it begins": TextContent, "#!/bin/sh\n": ScriptContent, "\xff\xfe": TextContent,
		"a\x00b": binaryContent, "#!/bin/sh\n\x00": binaryContent, "\x89PNG\r\n\x1a\n\x00": binaryContent, strings.Repeat("a", HeadSize) + "\x00": TextContent,
		"\x7fELF\x02": ProgramContent, "MZ\x90\x00": ProgramContent, "\xca\xfe\xba\xbe": ProgramContent, "\xcf\xfa\xed\xfe": ProgramContent, "\x00asm\x01": ProgramContent,
		"PK\x03\x04": ProgramContent, "\x1f\x8b\x08": ProgramContent, "!<arch>\n": ProgramContent, "BZh91AY&SY": ProgramContent, tar: ProgramContent,
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
			out = append(out, Change{Path: fmt.Sprintf("%s%d.txt", folder, i), Kind: FileKind, New: true, Size: size})
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
			append(files("", 5, 1), Change{Path: ".github/x", Kind: FileKind, Size: 2000}), 0, 5, 1, "",
		},
		"a link that was moved stays": {[]Change{{Path: "l", Kind: SymlinkKind, Gone: true}, {Path: "lib/l", Kind: SymlinkKind, New: true}}, 0, 0, 2, ""},
		"so does what is ignored now": {[]Change{removed("src/x.go"), {Path: "x.log", New: true, Kind: FileKind, Holds: TextContent, Ignored: true}}, 0, 0, 2, ""},
		"so does what got a bad name": {[]Change{removed("src/x.go"), added("src/aux.go")}, 0, 0, 2, ""},
		"also in another folder":      {[]Change{removed("src/x.go"), added("lib/aux.go")}, 0, 0, 2, ""},
		"so does each of two": {[]Change{
			removed("src/x.go"),
			removed("src/y.go"),
			added("src/aux.go"),
			added("src/con.go"),
		}, 0, 0, 4, ""},
		"what made way for a link stays": {[]Change{removed("a.txt"), {Path: "a.txt/l", Kind: SymlinkKind, New: true}}, 0, 0, 2, ""},
		"not if it made way for more":    {[]Change{removed("a"), {Path: "a/l.md", Kind: SymlinkKind, New: true}, added("a/b")}, 0, 2, 1, ""},
		"a folder made way":              {[]Change{{Path: "d", Kind: SymlinkKind, New: true}, removed("d/a.go"), removed("d/e/b.md")}, 0, 0, 3, ""},
		"nor if a file has the place":    {[]Change{added("d"), removed("d/a"), {Path: "l", Kind: SymlinkKind, New: true}}, 0, 2, 1, ""},
		"nor what has moved":             {[]Change{removed("a.md"), added("d/a.md"), {Path: "l", Kind: SymlinkKind, New: true}}, 0, 2, 1, ""},
		"nor what has other letters":     {[]Change{removed("a.md"), added("A.md"), {Path: "l", Kind: SymlinkKind, New: true}}, 0, 2, 1, ""},
		"nobody knows which was moved":   {[]Change{removed("x.md"), removed("y.txt"), {Path: "mod", Kind: NestedKind}}, 0, 0, 3, ""},
		"the record is not counted":      {append(files("", 5, 1), Change{Path: ".reprise/issue-7/metadata.json", Kind: FileKind, Size: 2000}), 0, 5, 0, ""},
	}
	for name, test := range tests {
		s := edge(pipelines.AccessTree).Sort(test.changes)
		if len(s.Artifacts) != test.artifacts || len(s.Tree) != test.tree || len(s.Undo) != test.out {
			t.Errorf("%s: %d artifacts and %d of the tree stay, %d are taken back", name, len(s.Artifacts), len(s.Tree), len(s.Undo))
		}
		if (s.Over == "") != (test.why == "") || !strings.Contains(s.Over.In(prompts.Words("en")), test.why) {
			t.Errorf("%s: %q, want %q in it", name, s.Over, test.why)
		}
		if slices.Contains(s.Broke, metadata.RuleSize) != (test.why != "") {
			t.Errorf("%s: broke %q", name, s.Broke)
		}
	}
}
