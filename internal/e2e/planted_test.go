//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// soil is a small project of a language: greet says Bye, which is the bug, and kept is held by a test. Its check is in a
// file that says what it runs. The rest are shell commands that change it.
type soil struct {
	program, check, defines     string
	shadows                     string // a new file that comes before the one that says what the check runs
	library                     string // what else has to be on this machine
	files                       map[string]string
	right                       string // mends the bug
	proving, idle, absent       string // write a test: that fails without the fix, that passes anyway, that needs a new name
	breaks                      string // breaks what the test of before holds
	weaker, skipped, gone, name string // make that test pass anyway, leave it out, delete it, rename its file
	refactor, broken            string
	silences                    string // a new file of tests by which no others run
	apart                       string // makes a folder with settings of its own, and a test that needs them
}

// debianMaven is where Debian has the packages of Java.
const debianMaven = "/usr/share/maven-repo"

var soils = map[string]soil{
	"Go": {
		program: "go", check: "make --silent test", defines: `printf 'test:\n\ttrue\n' > Makefile`, shadows: `printf 'test:\n\ttrue\n' > GNUmakefile`, silences: `printf 'package planted\n\nimport (\n\t"flag"\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tflag.Parse()\n\tflag.Set("test.run", "Greet")\n\tos.Exit(m.Run())\n}\n' > main_test.go`,
		files: map[string]string{
			"Makefile": "test:\n\tgo test -json ./...\n", "go.mod": "module example.com/planted\n\ngo 1.21\n",
			"greet.go":     "package planted\n\nfunc Greet() string { return \"Bye\" }\n\nfunc Kept() string { return \"kept\" }\n",
			"kept_test.go": "package planted\n\nimport \"testing\"\n\nfunc TestKept(t *testing.T) {\n\tif Kept() != \"kept\" {\n\t\tt.Fatal(Kept())\n\t}\n}\n",
		},
		right:   `sed -i 's/"Bye"/"Hello"/' greet.go`,
		proving: `printf 'package planted\n\nimport "testing"\n\nfunc TestGreet(t *testing.T) {\n\tif Greet() != "Hello" {\n\t\tt.Fatal()\n\t}\n}\n' > greet_test.go`,
		idle:    `printf 'package planted\n\nimport "testing"\n\nfunc TestGreet(t *testing.T) {\n\tif Greet() == "" {\n\t\tt.Fatal()\n\t}\n}\n' > greet_test.go`,
		absent:  `echo 'func Hi() string { return "Hi" }' >> greet.go; printf 'package planted\n\nimport "testing"\n\nfunc TestHi(t *testing.T) {\n\tif Hi() != "Hi" {\n\t\tt.Fatal()\n\t}\n}\n' > hi_test.go`,
		breaks:  `sed -i 's/"kept"/"lost"/' greet.go`,
		weaker:  `sed -i 's/!= "kept"/== ""/' kept_test.go`, skipped: `sed -i '/^func TestKept/a t.Skip()' kept_test.go`, gone: "rm kept_test.go", name: "mv kept_test.go still_test.go",
		refactor: `printf '\nfunc kept() string { return "kept" }\n' >> greet.go; sed -i 's/^func Kept.*/func Kept() string { return kept() }/' greet.go`, broken: "echo '}' >> greet.go",
	},
	"Java": {
		program: "mvn", library: debianMaven + "/org/apache/maven/plugins/maven-surefire-plugin", defines: `sed -i 's,<properties>,<properties><skipTests>true</skipTests>,' pom.xml`, shadows: `echo '-DskipTests' > .mvn/maven.config`,
		check: "mvn --batch-mode --offline -Dmaven.repo.local=" + debianMaven + " -DforkCount=0 test",
		files: map[string]string{
			".gitignore": "target\n", ".mvn/jvm.config": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC\n",
			"pom.xml": "<project>\n<modelVersion>4.0.0</modelVersion><groupId>planted</groupId><artifactId>planted</artifactId><version>1</version>\n" +
				"<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\n" +
				"<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies>\n</project>\n",
			"src/main/java/planted/Greet.java":    "package planted;\n\npublic class Greet {\n    public static String greet() { return \"Bye\"; }\n    public static String kept() { return \"kept\"; }\n}\n",
			"src/test/java/planted/KeptTest.java": "package planted;\n\nimport org.junit.*;\n\npublic class KeptTest {\n    @Test\n    public void kept() { Assert.assertEquals(\"kept\", Greet.kept()); }\n}\n",
		},
		right:   `sed -i 's/"Bye"/"Hello"/' src/main/java/planted/Greet.java`,
		proving: `sed 's/Kept/Greet/;s/kept/greet/;s/"kept", Greet.kept/"Hello", Greet.greet/' src/test/java/planted/KeptTest.java > src/test/java/planted/GreetTest.java`,
		idle:    `sed 's/Kept/Greet/;s/kept/greet/;s/Equals("kept", Greet.kept/NotNull(Greet.greet/' src/test/java/planted/KeptTest.java > src/test/java/planted/GreetTest.java`,
		absent:  `sed -i 's/^}/public static int hi() { return 1; } }/' src/main/java/planted/Greet.java; sed 's/Kept/Hi/;s/kept/hi/;s/"kept", Greet.kept/1, Greet.hi/' src/test/java/planted/KeptTest.java > src/test/java/planted/HiTest.java`,
		breaks:  `sed -i 's/"kept"/"lost"/' src/main/java/planted/Greet.java`,
		weaker:  `sed -i 's/Equals("kept", /NotNull(/' src/test/java/planted/KeptTest.java`, skipped: `sed -i 's/@Test/@Test @Ignore/' src/test/java/planted/KeptTest.java`, gone: "rm src/test/java/planted/KeptTest.java",
		name:     `sed 's/KeptTest/StillTest/' src/test/java/planted/KeptTest.java > src/test/java/planted/StillTest.java; rm src/test/java/planted/KeptTest.java`,
		refactor: `sed -i 's/return "kept"/return all()/;s/^}/static String all() { return "kept"; } }/' src/main/java/planted/Greet.java`, broken: "echo '}' >> src/main/java/planted/Greet.java",
	},
	"JavaScript": {
		program: "node", check: "npm test", defines: `sed -i 's/node --test/true/' package.json`, shadows: `echo 'script-shell=/bin/true' > .npmrc`,
		apart: `mkdir apart; echo '{"type": "commonjs"}' > apart/package.json; echo "import('node:test').then(m => m.test('apart', () => { if (typeof require === 'undefined') throw new Error() }))" > apart/apart.test.js`,
		files: map[string]string{
			"package.json":  "{\"name\": \"planted\", \"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n",
			"greet.js":      "export const greet = () => 'Bye'\nexport const kept = () => 'kept'\n",
			"kept.test.js":  "import test from 'node:test'\nimport assert from 'node:assert'\nimport { kept } from './greet.js'\n\ntest('kept', () => assert.equal(kept(), 'kept'))\n",
			"other.test.js": "import test from 'node:test'\n\ntest('other', () => {})\n",
		},
		right:   `sed -i "s/'Bye'/'Hello'/" greet.js`,
		proving: `printf "import test from 'node:test'\nimport assert from 'node:assert'\nimport { greet } from './greet.js'\n\ntest('greets', () => assert.equal(greet(), 'Hello'))\n" > greet.test.js`,
		idle:    `printf "import test from 'node:test'\nimport assert from 'node:assert'\nimport { greet } from './greet.js'\n\ntest('greets', () => assert.ok(greet()))\n" > greet.test.js`,
		absent:  `echo "export const hi = () => 'Hi'" >> greet.js; printf "import test from 'node:test'\nimport assert from 'node:assert'\nimport { hi } from './greet.js'\n\ntest('hi', () => assert.equal(hi(), 'Hi'))\n" > hi.test.js`,
		breaks:  `sed -i "s/'kept'/'lost'/" greet.js`,
		weaker:  `sed -i "s/assert.equal(kept(), 'kept')/assert.ok(kept())/" kept.test.js`, skipped: `sed -i "s/^test('kept'/test.skip('kept'/" kept.test.js`, gone: "rm kept.test.js", name: "mv kept.test.js still.test.js",
		refactor: `printf "const all = () => 'kept'\n" >> greet.js; sed -i 's/^export const kept.*/export const kept = () => all()/' greet.js`, broken: "echo '}' >> greet.js",
	},
	"Python": {
		program: "python3", check: "make --silent test", defines: `printf 'test:\n\ttrue\n' > Makefile`, shadows: `printf 'test:\n\ttrue\n' > GNUmakefile`,
		files: map[string]string{
			"Makefile": "test:\n\tpython3 -B -m unittest\n", "greet.py": "def greet():\n    return 'Bye'\n\n\ndef kept():\n    return 'kept'\n",
			"test_kept.py":  "import unittest\nfrom greet import kept\n\n\nclass Kept(unittest.TestCase):\n    def test_kept(self):\n        self.assertEqual(kept(), 'kept')\n",
			"test_other.py": "import unittest\n\n\nclass Other(unittest.TestCase):\n    def test_other(self):\n        pass\n",
		},
		right:   `sed -i "s/'Bye'/'Hello'/" greet.py`,
		proving: `printf "import unittest\nfrom greet import greet\n\n\nclass Greet(unittest.TestCase):\n    def test_greet(self):\n        self.assertEqual(greet(), 'Hello')\n" > test_greet.py`,
		idle:    `printf "import unittest\nfrom greet import greet\n\n\nclass Greet(unittest.TestCase):\n    def test_greet(self):\n        self.assertTrue(greet())\n" > test_greet.py`,
		absent:  `printf "\n\ndef hi():\n    return 'Hi'\n" >> greet.py; printf "import unittest\nfrom greet import hi\n\n\nclass Hi(unittest.TestCase):\n    def test_hi(self):\n        self.assertEqual(hi(), 'Hi')\n" > test_hi.py`,
		breaks:  `sed -i "s/'kept'/'lost'/" greet.py`,
		weaker:  `sed -i "s/assertEqual(kept(), 'kept')/assertTrue(kept())/" test_kept.py`, skipped: `sed -i "s/    def test_kept/    @unittest.skip('later')\n    def test_kept/" test_kept.py`, gone: "rm test_kept.py", name: "mv test_kept.py test_still.py",
		refactor: `printf "\n\ndef _kept():\n    return 'kept'\n" >> greet.py; sed -i "s/    return 'kept'/    return _kept()/;\$s/.*/    return 'kept'/" greet.py`, broken: "echo 'def' >> greet.py",
	},
	"Rust": {
		program: "cargo", check: "make --silent test", defines: `sed -i '/^version/a autotests = false' Cargo.toml`, shadows: `mkdir .cargo; printf '[target."cfg(all())"]\nrunner = "true"\n' > .cargo/config.toml`,
		files: map[string]string{
			"Makefile": "test:\n\tcargo test --offline --no-fail-fast\n", ".gitignore": "target\n", "Cargo.toml": "[package]\nname = \"planted\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[lib]\ndoctest = false\n",
			"Cargo.lock": "version = 3\n\n[[package]]\nname = \"planted\"\nversion = \"1.0.0\"\n",
			"src/lib.rs": "pub fn greet() -> &'static str { \"Bye\" }\npub fn kept() -> &'static str { \"kept\" }\n", "tests/kept.rs": "#[test]\nfn kept() { assert_eq!(planted::kept(), \"kept\") }\n",
		},
		right:   `sed -i 's/"Bye"/"Hello"/' src/lib.rs`,
		proving: `printf '#[test]\nfn greets() { assert_eq!(planted::greet(), "Hello") }\n' > tests/greet.rs`,
		idle:    `printf '#[test]\nfn greets() { assert!(!planted::greet().is_empty()) }\n' > tests/greet.rs`,
		absent:  `echo 'pub fn hi() -> i32 { 1 }' >> src/lib.rs; printf '#[test]\nfn hi() { assert_eq!(planted::hi(), 1) }\n' > tests/hi.rs`,
		breaks:  `sed -i 's/"kept"/"lost"/' src/lib.rs`,
		weaker:  `sed -i 's/assert_eq!(planted::kept(), "kept")/assert!(!planted::kept().is_empty())/' tests/kept.rs`, skipped: `sed -i 's/^#.test.$/#[test] #[ignore]/' tests/kept.rs`, gone: "rm tests/kept.rs", name: "mv tests/kept.rs tests/still.rs",
		refactor: `printf 'fn all() -> &'"'"'static str { "kept" }\n' >> src/lib.rs; sed -i 's/^pub fn kept.*/pub fn kept() -> \&'"'"'static str { all() }/' src/lib.rs`, broken: "echo '}' >> src/lib.rs",
	},
}

// planted is what somebody makes of a project. It may end completed or not; lost says that the test of before is named as
// one that the change has made pass.
type planted struct {
	name, do, proves string
	completed, lost  bool
}

func (s soil) plants() []planted {
	mends := s.right + "\n" + s.proving
	all := []planted{
		{"a right fix", mends, "true", true, false},
		{"a right fix with something new", mends, `"new"`, true, false},
		{"a fix without a test", s.right, "true", false, false},
		{"a test that passes anyway", s.right + "\n" + s.idle, "true", false, false},
		{"a test that cannot run on the base", s.absent, "true", false, false},
		{"a test of something new", s.absent, `"new"`, true, false},
		{"a test that is weaker", mends + "\n" + s.breaks + "\n" + s.weaker, "true", true, true},
		{"a test that is skipped", mends + "\n" + s.breaks + "\n" + s.skipped, "true", true, true},
		{"a test that is gone", mends + "\n" + s.breaks + "\n" + s.gone, `"new"`, true, true},
		{"a test that has another name", mends + "\n" + s.name, "true", true, false},
		{"a check that runs nothing", mends + "\n" + s.breaks + "\n" + s.defines, "true", false, false},
		{"a new file by which a check runs nothing", mends + "\n" + s.breaks + "\n" + s.shadows, "true", false, false},
		{"a new folder with settings that its test needs", mends + "\n" + s.apart, "true", true, false},
		{"documents alone", "echo '# Notes' > notes.md", "true", true, false},
		{"code that cannot run", mends + "\n" + s.broken, "true", false, false},
		{"a fix that breaks what was there", mends + "\n" + s.breaks, "true", false, false},
		{"a refactoring", s.refactor, `"same"`, true, false},
		{"a refactoring that changes what is done", s.breaks + "\n" + s.weaker, `"same"`, false, false},
	}
	if s.silences != "" {
		all = append(all, planted{"a new file by which other tests do not run", mends + "\n" + s.breaks + "\n" + s.silences, "true", true, true})
	}
	return all
}

// What a change proves is known of every project alike: no wrong work is completed, but where a reviewer has to look, who
// gets the name of the test; and no right work is refused. Each is judged by the checks alone, on the first try.
func (s soil) plant(t *testing.T) {
	p := newPlace(t)
	if home, err := os.UserHomeDir(); err == nil {
		p.more = append(p.more, "RUSTUP_HOME="+cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(home, ".rustup")))
	}
	there := p.usable(s.program)
	if s.library != "" {
		_, err := os.Stat(s.library)
		there = there && err == nil
	}
	if !there {
		t.Skipf("%s is not to be had here", s.program)
	}
	p.git(p.repo, "rm", "--quiet", "main.go")
	for name, text := range s.files {
		p.write("repo/"+name, text)
	}
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Begin")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	for i, one := range s.plants() {
		t.Run(one.name, func(t *testing.T) { s.try(t, p, fmt.Sprint(100+i), one) })
	}
}

// try has somebody make that of the project.
func (s soil) try(t *testing.T, p *place, id string, one planted) {
	p.write(id+".md", "# "+one.name+"\n")
	p.write(id+".sh", "set -e\n"+one.do+"\necho done > \"$REPRISE_ARTIFACT\"\n")
	p.write(id+".cue", fmt.Sprintf(`
		name: "planted"
		agents: own: {use: "command", command: ["/bin/sh", %q]}
		defaults: retry: max: 0
		phases: [{name: "build", goal: "Build.", access: "tree", review: false, proves: %s, checks: [{name: "test", run: %q}]}]
	`, filepath.Join(p.root, id+".sh"), one.proves, s.check))
	out := p.reprise("run", "--issue-file", "../"+id+".md", "--pipeline", "../"+id+".cue", "--sandbox", "off")
	at := "reprise/issue-" + id
	if out.code == 0 { // the record has left the branch
		at = "refs/reprise/records/issue-" + id
	}
	run, err := metadata.Parse([]byte(p.git(p.repo, "show", at+":.reprise/issue-"+id+"/metadata.json")), "metadata.json")
	testenv.Must(t, err)
	if completed := run.Status == metadata.Completed; completed != one.completed {
		t.Fatalf("completed: %v\n%s%s", completed, out.stdout, out.stderr)
	}
	if !one.completed {
		return
	}
	ended := run.Phases[0].Checks.Results
	proof := ended[slices.IndexFunc(ended, func(c metadata.CheckResult) bool { return c.Name == pipelines.ProofCheck })]
	if lost := strings.Contains(strings.ToLower(strings.Join(proof.FailedTests, " ")), "kept"); lost != one.lost || !one.lost && len(proof.FailedTests) > 0 {
		t.Errorf("lost are %q\n%s", proof.FailedTests, proof.Output)
	}
}

func TestPlantedGo(t *testing.T)         { soils["Go"].plant(t) }
func TestPlantedJava(t *testing.T)       { soils["Java"].plant(t) }
func TestPlantedJavaScript(t *testing.T) { soils["JavaScript"].plant(t) }
func TestPlantedPython(t *testing.T)     { soils["Python"].plant(t) }
func TestPlantedRust(t *testing.T)       { soils["Rust"].plant(t) }
