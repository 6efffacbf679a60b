package setup

import (
	"encoding/xml"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

var useLine = regexp.MustCompile(`(?m)^\s*(?:use\s+)?(\.(?:/[A-Za-z0-9_.-]+)*)/?\s*$`)

// goPackages names the packages of a module or, each by itself, of all modules of a
// workspace, for which Go has had no short form for long.
func goPackages(l *look, dir string) map[string]string {
	var all []string
	for _, m := range useLine.FindAllStringSubmatch(l.repo.read(path.Join(dir, "go.work")), -1) {
		all = append(all, m[1]+"/...")
	}
	if len(all) == 0 {
		all = []string{"./..."}
	}
	return map[string]string{"packages": strings.Join(all, " ")}
}

// pipPackages gives the arguments by which pip installs what a project needs: the usual
// files of requirements, and itself with its extras for tests and development. It also
// names where they are from.
func pipPackages(l *look, dir string) map[string]string {
	var from []string
	args := ""
	for _, file := range []string{"requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements_dev.txt", "requirements-test.txt", "test-requirements.txt", "requirements/dev.txt", "requirements/test.txt"} {
		if l.repo.has(path.Join(dir, file)) {
			args, from = args+" -r "+file, append(from, file)
		}
	}
	var p struct {
		Project struct {
			Name     string
			Optional map[string][]string `toml:"optional-dependencies"`
		}
		Build map[string]any `toml:"build-system"`
	}
	_ = toml.Unmarshal([]byte(l.repo.read(path.Join(dir, "pyproject.toml"))), &p) // what can be read of it counts
	itself := l.repo.first(dir, "pyproject.toml", "setup.py")
	if p.Build == nil && p.Project.Name == "" {
		itself = l.repo.first(dir, "setup.py")
	}
	if itself != "" {
		extras := slices.DeleteFunc([]string{"test", "tests", "testing", "dev"}, func(name string) bool { return p.Project.Optional[name] == nil })
		args, from = args+" -e "+either(len(extras) > 0, "'.["+strings.Join(extras, ",")+"]'", "."), append(from, itself)
	}
	return map[string]string{"packages": args, "from": strings.Join(from, ", ")}
}

// mavenRepositories gives the hosts of the repositories that a project of Maven names.
// Other addresses in it, such as the one to publish to, are not among them.
func mavenRepositories(l *look, dir string) map[string]string {
	type repositories struct {
		All     []string `xml:"repositories>repository>url"`
		Plugins []string `xml:"pluginRepositories>pluginRepository>url"`
	}
	var project struct {
		repositories
		Profiles []repositories `xml:"profiles>profile"`
	}
	_ = xml.Unmarshal([]byte(l.repo.read(path.Join(dir, "pom.xml"))), &project) // what can be read of it counts
	var hosts []string
	for _, from := range append([]repositories{project.repositories}, project.Profiles...) {
		for _, address := range append(from.All, from.Plugins...) {
			u, err := url.Parse(address)
			if err == nil && u.Scheme == "https" && plainHost.MatchString(u.Host) && len(hosts) < mostHosts && !slices.Contains(append(usualHosts("maven"), hosts...), u.Host) {
				hosts = append(hosts, u.Host)
			}
		}
	}
	return map[string]string{"repositories": strings.Join(hosts, " ")}
}

const mostHosts = 20 // of a command; more is not what people have in mind

// namedHost is where lock files and settings of package managers say where packages come from.
var namedHost = regexp.MustCompile(`(?m)(?:"resolved": *"|^ *resolved "|tarball: *"?|^ *remote: *|^ *source ["']|\b(?:source|url|git|registry|index) = "(?:git\+|sparse\+)?|registry=|npmRegistryServer: *"?|^(?:-i|--index-url|--extra-index-url)[ =]|\bgit\+|<add [^>]*\bvalue *= *["'])https://([a-z0-9][a-z0-9.-]*[a-z0-9](?::[0-9]{1,5})?)[/"'<\s]`)

// plainHost is a host, with its port or without, as it stands in such an address.
var plainHost = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*[a-z0-9](?::[0-9]{1,5})?$`)

// fetches gives the hosts that a package manager fetches from: the usual ones, and
// those that files in the folder name.
func (r repository) fetches(dir string, usual []string, files ...string) []string {
	for _, file := range files {
		if !path.IsAbs(file) { // else from the top of the repository
			file = path.Join(dir, file)
		}
		for _, m := range namedHost.FindAllStringSubmatch(r.read(strings.TrimPrefix(file, "/")), -1) {
			if len(usual) < mostHosts && !slices.Contains(usual, m[1]) {
				usual = append(usual, m[1])
			}
		}
	}
	return usual
}
