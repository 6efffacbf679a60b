package setup

import (
	"path"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// project is what is looked at of a pyproject.toml.
type project struct {
	Project struct {
		Name     string
		Optional map[string][]string `toml:"optional-dependencies"`
	}
	Build  map[string]any `toml:"build-system"`
	Groups map[string]any `toml:"dependency-groups"`
	Tool   map[string]any
}

// python looks for a project in Python.
func python(l *look, dir string) bool {
	manifest := l.repo.first(dir, "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini")
	if manifest == "" {
		return false
	}
	var p project
	text := l.repo.read(path.Join(dir, "pyproject.toml"))
	if err := toml.Unmarshal([]byte(text), &p); err != nil {
		l.unused(path.Join(dir, "pyproject.toml"), "it cannot be read")
	}
	py := pythonProject{look: l, dir: dir, project: p, manifest: manifest, all: text}
	for _, file := range pythonFiles() {
		py.all += "\n" + l.repo.read(path.Join(dir, file))
	}
	var run string // what is put in front of a program of the environment
	switch {
	case l.repo.first(dir, "uv.lock") != "" || p.Tool["uv"] != nil:
		run = py.uv()
	case l.repo.first(dir, "poetry.lock") != "" || p.Tool["poetry"] != nil:
		run = py.poetry()
	case l.repo.first(dir, "tox.ini") != "" || p.Tool["tox"] != nil:
		why := either(l.repo.first(dir, "tox.ini") != "", "tox.ini", "pyproject.toml")
		l.byPipx("tox", why)
		l.test("tox", "tox", why).Timeout = "20m"
		return true
	default:
		run = py.pip()
	}
	py.checks(run)
	return true
}

// pythonProject is a project in Python that is being looked at.
type pythonProject struct {
	*look
	dir      string
	project  project
	manifest string
	all      string // of the files in which dependencies and settings stand
}

// pythonFiles are those that name dependencies or settings, besides pyproject.toml.
func pythonFiles() []string {
	return append(requirements(), "setup.py", "setup.cfg", "tox.ini")
}

// requirements are the files for pip, as they are usually called.
func requirements() []string {
	return []string{"requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements_dev.txt", "requirements-test.txt", "test-requirements.txt", "requirements/dev.txt", "requirements/test.txt"}
}

func (p pythonProject) uv() string {
	run, why := "uv sync", "pyproject.toml"
	if p.repo.first(p.dir, "uv.lock") != "" {
		run, why = "uv sync --locked", "uv.lock"
	}
	p.byPipx("uv", why)
	if len(p.project.Project.Optional) > 0 {
		run += " --all-extras"
	}
	setup := p.add(&p.found.Setup, "python-packages", run, why)
	setup.Leaves, setup.Hosts = []string{".venv"}, p.hosts()
	return "uv run --no-sync "
}

func (p pythonProject) poetry() string {
	why := either(p.repo.first(p.dir, "poetry.lock") != "", "poetry.lock", "pyproject.toml")
	p.byPipx("poetry", why)
	setup := p.add(&p.found.Setup, "python-packages", "poetry install --no-interaction", why)
	setup.Env = map[string]string{"POETRY_VIRTUALENVS_IN_PROJECT": "true"}
	setup.Leaves, setup.Hosts = []string{".venv"}, p.hosts()
	return "poetry run "
}

// pip makes an environment in the tree, which only ever has this project.
func (p pythonProject) pip() string {
	var args []string
	var why []string
	for _, file := range requirements() {
		if p.repo.has(path.Join(p.dir, file)) {
			args, why = append(args, "-r "+file), append(why, file)
		}
	}
	if p.project.Build != nil || p.project.Project.Name != "" || p.repo.first(p.dir, "setup.py") != "" {
		args, why = append(args, "-e "+p.itself()), append(why, p.manifest)
	}
	if p.usesPytest() && !mentions(p.all, "pytest") {
		args = append(args, "pytest")
	}
	if len(args) > 0 {
		setup := p.add(&p.found.Setup, "python-packages", "python3 -m venv .venv && .venv/bin/pip install --quiet "+strings.Join(args, " "), strings.Join(why, ", "))
		setup.Leaves, setup.Hosts = []string{".venv", "*.egg-info"}, p.hosts()
		return ".venv/bin/python -m "
	}
	return "python3 -m "
}

// hosts are those that packages come from.
func (p pythonProject) hosts() []string {
	return p.repo.fetches(p.dir, pythonHosts(), append(requirements(), "uv.lock", "poetry.lock")...)
}

// itself is the project with its extras for tests and development.
func (p pythonProject) itself() string {
	var extras []string
	for _, name := range []string{"test", "tests", "testing", "dev"} {
		if p.project.Project.Optional[name] != nil {
			extras = append(extras, name)
		}
	}
	if len(extras) == 0 {
		return "."
	}
	return "'.[" + strings.Join(extras, ",") + "]'"
}

// usesPytest says whether tests are written for pytest.
func (p pythonProject) usesPytest() bool {
	return p.project.Tool["pytest"] != nil || mentions(p.all, "pytest") || p.repo.first(p.dir, "pytest.ini", "conftest.py", "tests/conftest.py") != "" ||
		p.repo.anyFile(path.Join(p.dir, "tests"), 2, func(name string) bool { return name == "conftest.py" })
}

// checks takes the programs that the project itself depends on. run is put in
// front of them.
func (p pythonProject) checks(run string) {
	tests := func(name string) bool { return strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") }
	switch {
	case p.usesPytest():
		p.test("pytest", run+"pytest", p.manifest).Timeout = "20m"
	case p.repo.anyFile(path.Join(p.dir, "tests"), 2, tests) || p.repo.anyFile(p.dir, 0, tests):
		p.test("unittest", either(strings.HasSuffix(run, "-m "), run, run+"python -m ")+"unittest discover", "test_*.py").Timeout = "20m"
	}
	if mentions(p.all, "ruff") {
		p.add(&p.found.Checks, "ruff", run+"ruff check .", p.manifest)
	}
	if p.project.Tool["mypy"] != nil && mentions(p.all, "mypy") {
		p.add(&p.found.Checks, "mypy", run+"mypy .", p.manifest)
	}
}

// mentions says whether a program is among the dependencies that a text lists:
// where one begins a line or stands in quotes.
func mentions(text, program string) bool {
	return regexp.MustCompile(`(?m)(^\s*|["'])` + program + `(\s*$|["'\[=<>~! ;])`).MatchString(text)
}
