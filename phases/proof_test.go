package phases

import (
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestProves(t *testing.T) {
	const fix, newer, same = pipelines.ProvesFix, pipelines.ProvesNew, pipelines.ProvesSame
	type fails = []string
	for _, tt := range []struct {
		name     string
		there    fails // nil: the check passes; empty: it fails without names
		before   fails // that fail on the work, as they did before it
		passes   []pipelines.Proof
		says     string
		saysSame string
	}{
		{"nothing fails there", nil, nil, []pipelines.Proof{same}, "proof_passes_anyway", "proof_same"},
		{"a test fails there", fails{"example.com/a TestA/b"}, nil, []pipelines.Proof{fix, newer}, "proof_fails_without", "proof_not_same"},
		{"and a build", fails{"example.com/b [build failed]", "example.com/a TestA"}, nil, []pipelines.Proof{fix, newer}, "proof_fails_without", "proof_not_same"},
		{"Go does not compile there", fails{"example.com/a [build failed]"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"a Python file cannot be read there", fails{"tests/test_b.py"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"a Python module cannot be imported there", fails{"test_hi (unittest.loader._FailedTest.test_hi)"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"a Python test fails there", fails{"tests/test_b.py::C::test_d"}, nil, []pipelines.Proof{fix, newer}, "proof_fails_without", "proof_not_same"},
		{"a Vitest file cannot be run there", fails{"src/a.test.ts"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"a Vitest test fails there", fails{"src/a.test.ts > greets > people"}, nil, []pipelines.Proof{fix, newer}, "proof_fails_without", "proof_not_same"},
		{"Cargo does not compile there", fails{"could not compile `demo` (test \"t\")"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"Cargo has other crates there", fails{"cannot update the lock file"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"Maven does not compile there", fails{"org.x:maven-compiler-plugin:3.1:testCompile (default-testCompile) on project app"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"a Java test fails there", fails{"org.x:maven-surefire-plugin:3.2.5:test (default-test) on project app", "app.GreetTest greets"}, nil, []pipelines.Proof{fix, newer}, "proof_fails_without", "proof_not_same"},
		{"C# does not compile there", fails{"A.cs error CS0103"}, nil, []pipelines.Proof{newer, same}, "proof_not_run", "proof_same_not_run"},
		{"what failed before the work proves nothing", fails{"example.com/a TestOld"}, fails{"example.com/a TestOld"}, []pipelines.Proof{same}, "proof_passes_anyway", "proof_same"},
		{"what is red before and names nothing tells nothing", fails{}, fails{}, nil, "proof_none_runs", "proof_none_runs"},
		{"nor does what cannot read its tests", fails{"tests/test_b.py"}, fails{"tests/test_b.py"}, nil, "proof_none_runs", "proof_none_runs"},
		{"names are not known", fails{}, nil, []pipelines.Proof{fix, newer}, "proof_unnamed", "proof_not_same"},
	} {
		work := metadata.CheckResult{Name: "test", Pass: tt.before == nil, FailedTests: tt.before, FailsBefore: true}
		there := metadata.CheckResult{Name: "test", Pass: tt.there == nil, FailedTests: tt.there}
		for _, kind := range []pipelines.Proof{fix, newer, same} {
			pass, why := Proves(kind, []metadata.CheckResult{there}, []metadata.CheckResult{work})
			says := tt.says
			switch {
			case kind == same:
				says = tt.saysSame
			case kind == newer && says == "proof_not_run":
				says = "proof_new"
			}
			if pass != slices.Contains(tt.passes, kind) || why.Code() != says {
				t.Errorf("%s, proves %s: %v, %s; want %s", tt.name, kind, pass, why.Code(), says)
			}
		}
	}
}

// A program that is not there on the base proves nothing, though its check is red.
func TestWhatCannotRunProvesNothing(t *testing.T) {
	there, work := metadata.CheckResult{Name: "test", ExitCode: 127}, metadata.CheckResult{Name: "test", Pass: true}
	if pass, why := Proves(pipelines.ProvesFix, []metadata.CheckResult{there}, []metadata.CheckResult{work}); pass || why.Code() != "proof_not_run" {
		t.Errorf("%v, %s", pass, why.Code())
	}
}

// A check that says nothing of tests, such as vet, fails as well where a test does not compile. That is no proof.
func TestWhatHasNoNamesProvesNothingBesideNames(t *testing.T) {
	ended := []metadata.CheckResult{{Name: "vet", ExitCode: 1}, {Name: "test", ExitCode: 1, FailedTests: []string{"a [build failed]"}}}
	work := []metadata.CheckResult{{Name: "vet", Pass: true}, {Name: "test", Pass: true}}
	if pass, why := Proves(pipelines.ProvesFix, ended, work); pass || why.Code() != "proof_not_run" {
		t.Errorf("%v, %s", pass, why.Code())
	}
}

// What is red before the work as well is told apart by the tests that ran, also where they have no names.
func TestWhatIsRedBefore(t *testing.T) {
	type results = []metadata.CheckResult
	lint := metadata.CheckResult{Name: "lint", ExitCode: 1, FailsBefore: true}
	test := metadata.CheckResult{Name: "test", ExitCode: 1, FailsBefore: true, Ran: 5, Failed: 1}
	more := test
	more.Failed = 2
	build := metadata.CheckResult{Name: "test", ExitCode: 1, FailsBefore: true, Ran: 5, FailedTests: []string{"a [build failed]"}}
	for _, tt := range []struct {
		kind        pipelines.Proof
		ended, work results
		pass        bool
		says        string
	}{
		{pipelines.ProvesNew, results{lint, {Name: "test", Pass: true}}, results{lint, {Name: "test", Pass: true}}, false, "proof_some_red"},
		{pipelines.ProvesSame, results{lint, {Name: "test", Pass: true}}, results{lint, {Name: "test", Pass: true}}, true, "proof_same"},
		{pipelines.ProvesNew, results{test}, results{test}, false, "proof_passes_anyway"},
		{pipelines.ProvesNew, results{build}, results{build}, false, "proof_passes_anyway"},
		{pipelines.ProvesFix, results{more}, results{test}, true, "proof_unnamed"},
		{pipelines.ProvesSame, results{more}, results{test}, false, "proof_not_same"},
	} {
		if pass, why := Proves(tt.kind, tt.ended, tt.work); pass != tt.pass || why.Code() != tt.says {
			t.Errorf("%s, %+v: %v, %s; want %s", tt.kind, tt.ended, pass, why.Code(), tt.says)
		}
	}
}

func TestDefiningChecks(t *testing.T) {
	defining := []string{
		"package.json", "web/package.json", "Makefile", "vitest.config.ts", "pyproject.toml", ".mocharc.json", "app/pom.xml", ".mvn/maven.config", "build.gradle.kts", "Cargo.toml", "Tests/Tests.csproj",
		"GNUmakefile", "sub/makefile", ".pytest.ini", "tox.toml", ".mvn/jvm.config", "a/.cargo/config.toml", "gradle.properties", "Directory.Build.props", "go.work", ".npmrc", "jest.config.js",
	}
	others := []string{"package.go", "src/makefile.go", "conftest.py", "README.md", "a_test.go", "go.mod", "Cargo.lock"}
	defining = append(defining, "scripts/check.sh", "run", "tools/all.py")
	p := &pipelines.Phase{Checks: []pipelines.Check{{Run: `A=1 sh ./scripts/check.sh --fast && ./run "a_test.go"`}, {Run: "cd web;python3 'tools/all.py'>out"}}}
	testenv.Same(t, "got", defining, DefiningChecks(p, append(slices.Clone(defining), others...)))
	for name, want := range map[string]string{"GNUmakefile": "", ".mvn/maven.config": "", "a/b/package.json": "a/b", "a/.cargo/config.toml": "a", ".config/x/nextest.toml": ""} {
		testenv.Is(t, name+" is for", Beneath(name), want)
	}
	for name, want := range map[string]bool{"conftest.py": true, "a/main_test.go": true, "spec/rails_helper.rb": true, "jest.setup.ts": true, "tests/setupTests.js": true, "domain_test.go": false, "a_test.py": false} {
		if ForAllTests(name) != want {
			t.Errorf("%s is for all tests: %v", name, !want)
		}
	}
	if !OnlyDocuments([]string{"README.md", "docs/a.RST"}) || OnlyDocuments([]string{"README.md", "a.go"}) || OnlyDocuments(nil) {
		t.Error("documents are not told from code")
	}
}

func TestTestsAmong(t *testing.T) {
	tests := []string{"a_test.go", "tests/x.py", "src/UserTest.java", "a/__tests__/b.js", "b.spec.ts", "testdata/in.json", "conftest.py", "spec/a_spec.rb", "GreeterTests.cs"}
	work := []string{"main.go", "latest.go", "contest.py", "src/attest.ts", "inspect.rb", "docs/testing.md"}
	testenv.Same(t, "got", tests, TestsAmong(&pipelines.Phase{}, append(slices.Clone(tests), work...)))
	testenv.Same(t, "with patterns:", []string{"checks/a.sh"}, TestsAmong(&pipelines.Phase{Tests: []string{"checks/**"}}, []string{"a_test.go", "checks/a.sh"}))
}
