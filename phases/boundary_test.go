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

// Each row is one wish of an agent, and the rule that it breaks.
func TestRules(t *testing.T) {
	tests := map[string]struct {
		c    Change
		want metadata.Rule
	}{
		"a file":                     {Change{Path: "a.go", New: true}, ""},
		"a file that is gone":        {Change{Path: "a.go", Gone: true}, ""},
		"an artifact":                {Change{Path: own + "code.md", New: true}, ""},
		"a drawing":                  {Change{Path: own + "x/flow.png", New: true, Holds: binaryContent}, ""},
		"another phase's folder":     {Change{Path: ".reprise/issue-7/00_plan/plan.md"}, metadata.RuleAccess},
		"another run":                {Change{Path: ".reprise/issue-8/metadata.json"}, metadata.RuleAccess},
		"the folder's alias":         {Change{Path: ".Reprise/x", New: true}, metadata.RuleAccess},
		"the review":                 {Change{Path: own + "review.md"}, metadata.RuleProtected},
		"the review, louder":         {Change{Path: own + "REVIEW.md", New: true}, metadata.RuleProtected},
		"a patch":                    {Change{Path: own + "attempt-3.patch", New: true}, metadata.RuleProtected},
		"what is put aside":          {Change{Path: own + "superseded/1/code.md"}, metadata.RuleProtected},
		"a workflow":                 {Change{Path: ".github/workflows/ci.yml"}, metadata.RuleProtected},
		"a workflow that goes":       {Change{Path: ".github/workflows/ci.yml", Gone: true}, metadata.RuleProtected},
		"a workflow in capitals":     {Change{Path: ".GitHub/workflows/x.yml", New: true}, metadata.RuleProtected},
		"a workflow on macOS":        {Change{Path: ".git\u200chub/workflows/x.yml", New: true}, metadata.RuleProtected},
		"an action":                  {Change{Path: "sub/action.yml"}, metadata.RuleProtected},
		"where files are sent":       {Change{Path: ".lfsconfig"}, metadata.RuleProtected},
		"who owns the code":          {Change{Path: "docs/CODEOWNERS"}, metadata.RuleProtected},
		"the pipeline's own":         {Change{Path: "sub/LICENSE"}, metadata.RuleProtected},
		"the pipeline's own folder":  {Change{Path: "deploy/prod.tf"}, metadata.RuleProtected},
		"a file like that folder":    {Change{Path: "deploy", New: true}, metadata.RuleProtected},
		"the pipeline's own pattern": {Change{Path: "keys/a.PEM", New: true}, metadata.RuleProtected},
		"instructions":               {Change{Path: "sub/CLAUDE.md", New: true}, metadata.RuleProtected},
		"instructions in small":      {Change{Path: "agents.MD", New: true}, metadata.RuleProtected},
		"instructions for one":       {Change{Path: "AGENTS.override.md", New: true}, metadata.RuleProtected},
		"settings":                   {Change{Path: "sub/.claude/settings.json", New: true}, metadata.RuleProtected},
		"a file like settings":       {Change{Path: ".claude", New: true}, metadata.RuleProtected},
		"skills":                     {Change{Path: ".agents/skills/x/SKILL.md", New: true}, metadata.RuleProtected},
		"variables":                  {Change{Path: "sub/.env", New: true}, metadata.RuleProtected},
		"variables as an example":    {Change{Path: ".env.example", New: true}, ""},
		"workflows of Gitea":         {Change{Path: ".gitea/workflows/x.yml", New: true}, metadata.RuleProtected},
		"jobs of GitLab":             {Change{Path: ".gitlab-ci.yml"}, metadata.RuleProtected},
		"a server of tools":          {Change{Path: ".mcp.json", New: true}, metadata.RuleProtected},
		"instructions as artifact":   {Change{Path: own + "CLAUDE.md", New: true}, metadata.RuleProtected},
		"settings as artifact":       {Change{Path: own + ".gemini/settings.json", New: true}, metadata.RuleProtected},
		"a license as artifact":      {Change{Path: own + "LICENSE", New: true}, ""},
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
		"inside .git":                {Change{Path: "sub/.GIT/config", New: true}, metadata.RuleName},
		"inside git~1":               {Change{Path: "git~1/config", New: true}, metadata.RuleName},
		"a line break":               {Change{Path: "a\nb", New: true}, metadata.RuleName},
		"no UTF-8":                   {Change{Path: "a\xff", New: true}, metadata.RuleName},
		"a dot at the end":           {Change{Path: "a.", New: true}, metadata.RuleName},
		"a device":                   {Change{Path: "src/aux.c", New: true}, metadata.RuleName},
		"a device that is there":     {Change{Path: "src/aux.c"}, ""},
		"a device as artifact":       {Change{Path: own + "con.md", New: true}, metadata.RuleName},
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
		"a space at the end":         {Change{Path: ".github /x", New: true}, metadata.RuleProtected},
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
		"a new one":                  {Change{Path: "AGENTS.md", New: true}, true},
		"another":                    {Change{Path: ".github/workflows/other.yml", New: true}, false},
		"another spelling":           {Change{Path: ".github/workflows/CI.yml"}, false},
		"in another folder":          {Change{Path: "docs/AGENTS.md", New: true}, false},
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
		"what the pipeline protects": {Change{Path: ".github/workflows/a.pem", New: true}, false},
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
		"so does what got a bad name": {[]Change{{Path: "src/x.go", Kind: FileKind, Gone: true}, {Path: "src/aux.go", Kind: FileKind, New: true}}, 0, 0, 2, ""},
		"also in another folder":      {[]Change{{Path: "src/x.go", Kind: FileKind, Gone: true}, {Path: "lib/aux.go", Kind: FileKind, New: true}}, 0, 0, 2, ""},
		"so does each of two": {[]Change{
			{Path: "src/x.go", Kind: FileKind, Gone: true},
			{Path: "src/y.go", Kind: FileKind, Gone: true},
			{Path: "src/aux.go", Kind: FileKind, New: true},
			{Path: "src/con.go", Kind: FileKind, New: true},
		}, 0, 0, 4, ""},
		"what made way for a link stays": {[]Change{{Path: "a.txt", Kind: FileKind, Gone: true}, {Path: "a.txt/l", Kind: SymlinkKind, New: true}}, 0, 0, 2, ""},
		"not if it made way for more":    {[]Change{{Path: "a", Kind: FileKind, Gone: true}, {Path: "a/l.md", Kind: SymlinkKind, New: true}, {Path: "a/b", Kind: FileKind, New: true}}, 0, 2, 1, ""},
		"a folder made way":              {[]Change{{Path: "d", Kind: SymlinkKind, New: true}, {Path: "d/a.go", Kind: FileKind, Gone: true}, {Path: "d/e/b.md", Kind: FileKind, Gone: true}}, 0, 0, 3, ""},
		"nor if a file has the place":    {[]Change{{Path: "d", Kind: FileKind, New: true}, {Path: "d/a", Kind: FileKind, Gone: true}, {Path: "l", Kind: SymlinkKind, New: true}}, 0, 2, 1, ""},
		"nor what has moved":             {[]Change{{Path: "a.md", Kind: FileKind, Gone: true}, {Path: "d/a.md", Kind: FileKind, New: true}, {Path: "l", Kind: SymlinkKind, New: true}}, 0, 2, 1, ""},
		"nobody knows which was moved":   {[]Change{{Path: "x.md", Kind: FileKind, Gone: true}, {Path: "y.txt", Kind: FileKind, Gone: true}, {Path: "mod", Kind: NestedKind}}, 0, 0, 3, ""},
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
