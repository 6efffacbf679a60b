package source

import (
	"path/filepath"
	"regexp"
	"testing"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Every pipeline in the documents is right, and so is each part of one, and each file of an evaluation.
func TestPipelinesInDocuments(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	testenv.Must(t, err)
	block := regexp.MustCompile("(?ms)^```(cue|yaml|toml)\n([a-z_]+[: ].*?)^```")
	held := map[string]int{}
	for _, page := range append(pages, "../../README.md", "../../README.ja.md") {
		text := testenv.Read(t, page)
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			if err := written(t, file{Name: "own." + m[1], Text: m[2]}); err != nil {
				t.Errorf("%s: %v\n%s", page, err, m[2])
			}
			held[filepath.Base(page)]++
		}
	}
	for page, least := range map[string]int{"README.md": 1, "README.ja.md": 1, "first-pipeline.md": 1, "pipelines.md": 10, "eval.md": 3} {
		if held[page] < least {
			t.Errorf("%s has %d blocks, want %d", page, held[page], least)
		}
	}
}

// written says what is wrong with a file, by what it is. A part of a pipeline is put over a built-in one.
func written(t *testing.T, f file) error {
	definitions := map[string]string{"variants:": "#Suite", "repo:": "#Case", "on:": "", "jobs:": "", "permissions:": ""} // the last are workflows
	if definition, is := definitions[regexp.MustCompile(`(?m)^(variants|repo|on|jobs|permissions):`).FindString(f.Text)]; is {
		cases := testenv.Read(t, "../../internal/eval/schema.cue")
		if definition == "" {
			return nil
		}
		_, err := ReadDocument(f.Name, []byte(f.Text), cases, definition)
		return err
	}
	if regexp.MustCompile(`(?m)^\w+\?:`).MatchString(f.Text) { // a policy, which this meets
		meets := file{Name: "own.cue", Text: `network: "model", phases: [{name: "a", goal: "x", access: "tree", approve: "write"}]`}
		_, err := evaluate(request{Files: []file{meets}, Policies: []file{f}})
		return err
	}
	others := file{Name: vendorPath + "/example.com/acme/pipes/secure/scan.cue", Text: "package secure\n#Scan: {name: \"scan\", goal: \"Scan.\", ...}"}
	files, config := []file{f, {Name: vendorPath + "/team.yaml", Text: "extends: full"}}, (*file)(nil)
	v, _ := newLibrary(NewContext(), []file{others}).build(f) // what is wrong with it is told below
	switch has := func(field string) bool { return v.LookupPath(cue.ParsePath(field)).Exists() }; {
	case has("pipeline"):
		files, config = []file{{Name: "over.yaml", Text: "extends: full"}}, &f
	case !has("phases") && !has("extends"):
		files[0].Text += "\nextends: \"full\"\n"
	}
	_, err := evaluate(request{Files: files, Config: config, Packages: []file{others}})
	return err
}
