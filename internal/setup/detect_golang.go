package setup

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// golang looks for a module or a workspace of Go.
func golang(l *look, dir string) bool {
	manifest, packages := l.repo.first(dir, "go.work", "go.mod"), "./..."
	if manifest == "" {
		return false
	}
	if manifest == "go.work" {
		packages = usedModules(l.repo.read(path.Join(dir, "go.work")))
	}
	if l.repo.first(dir, "vendor/modules.txt") == "" {
		l.add(&l.found.Setup, "go-modules", "go mod download", manifest).Hosts = goHosts()
	}
	l.add(&l.found.Checks, "vet", "go vet "+packages, manifest)
	l.test("go", "go test "+packages, manifest).Timeout = "20m"
	if l.repo.first(dir, ".golangci.yml", ".golangci.yaml", ".golangci.toml") != "" {
		l.unused("golangci-lint", "it is not part of the repository: add it as a check if it is installed where reprise runs")
	}
	return true
}

var useLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*(?:use\s+)?(\.(?:/[A-Za-z0-9_.-]+)*)/?\s*$`) })

// usedModules gives the packages of all modules of a workspace, for which Go has
// had no short form for long.
func usedModules(work string) string {
	var all []string
	for _, m := range useLine().FindAllStringSubmatch(work, -1) {
		all = append(all, m[1]+"/...")
	}
	if len(all) == 0 {
		return "./..."
	}
	return strings.Join(all, " ")
}
