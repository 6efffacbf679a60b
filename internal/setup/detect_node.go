package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// manifest is what is looked at of a package.json.
type manifest struct {
	Scripts        map[string]string
	PackageManager string
	Workspaces     json.RawMessage
}

// manager is a package manager of Node.js as a package uses it.
type manager struct {
	program string // as it is started
	install string // its arguments that install what the lock file has
	lock    string // "" if there is none
	all     string // arguments that run a script in every package of a workspace
	hosts   []string
}

// node looks for a package of Node.js.
func node(l *look, dir string) bool {
	var m manifest
	text := l.repo.read(path.Join(dir, "package.json"))
	if text == "" {
		return false
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		l.unused(path.Join(dir, "package.json"), "it cannot be read")
		return false
	}
	pm := l.manager(dir, m)
	why := "package.json"
	if pm.lock != "" {
		why += " and " + pm.lock
	}
	if pm.lock != "" || strings.Contains(text, `ependencies"`) {
		setup := l.add(&l.found.Setup, "node-modules", pm.program+" "+pm.install, why)
		setup.Leaves, setup.Hosts = []string{"node_modules"}, l.repo.fetches(dir, pm.hosts, ".npmrc", ".yarnrc.yml", pm.lock)
		if pm.program == "yarn" && strings.Contains(pm.install, "immutable") {
			setup.Leaves = append(setup.Leaves, ".yarn", ".pnp.cjs", ".pnp.loader.mjs")
		}
	}
	workspace, inner := l.workspace(dir, m)
	tested := l.scripts(pm, m, workspace, inner)
	return workspace != "" || tested
}

// scripts takes those scripts of a package that check it, or those of the packages
// in its workspace. It reports whether there are tests among them.
func (l *look) scripts(pm manager, m manifest, workspace string, inner map[string]bool) (tested bool) {
	took := 0
	for _, name := range []string{"test", "lint", "typecheck", "type-check", "check-types", "tsc"} {
		script, there := m.Scripts[name]
		run, why := pm.program+" run "+name, "package.json"
		switch {
		case there && unfit(script, false) != "":
			l.unused("the script "+name+" of "+path.Join(l.dir, "package.json"), unfit(script, false))
			continue
		case there && name == "test" && pm.program != "bun":
			run = pm.program + " test"
		case !there && inner[name] && pm.all != "":
			run, why = pm.program+" "+fmt.Sprintf(pm.all, name), workspace
		case !there:
			continue
		}
		took++
		tested = tested || name == "test"
		l.script(name, run, why)
	}
	if script, there := m.Scripts["build"]; there && took == 0 && unfit(script, false) == "" {
		l.add(&l.found.Checks, "build", pm.program+" run build", "package.json")
	}
	return tested
}

// script takes one script as a check.
func (l *look) script(name, run, why string) {
	if name == "test" {
		l.test("node", run, why).Timeout = "20m"
		return
	}
	l.add(&l.found.Checks, name, run, why)
}

// unfit says why a script, or what a task does, is of no use as a check; "" if it is. Of a task only what it starts
// outside of the repository tells that.
func unfit(script string, task bool) string {
	for _, u := range known().Unfit {
		if (u.Tasks || !task) && regexp.MustCompile(u.Text).MatchString(script) {
			return u.Why
		}
	}
	return ""
}

var exactManager = regexp.MustCompile(`^(npm|pnpm|yarn|bun)@([0-9]+)\.[0-9A-Za-z.+-]+$`)

// manager finds out which package manager a package uses: the one it names, or
// the one whose lock file there is.
func (l *look) manager(dir string, m manifest) manager {
	name, major := "", ""
	if named := exactManager.FindStringSubmatch(m.PackageManager); named != nil {
		name, major = named[1], named[2]
	}
	locks := []string{"pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "package-lock.json", "npm-shrinkwrap.json"}
	of := []string{"pnpm", "yarn", "bun", "bun", "npm", "npm"}
	lock := ""
	for i, file := range locks {
		if (name == "" || name == of[i]) && l.repo.has(path.Join(dir, file)) {
			name, lock = of[i], file
			break
		}
	}
	frozen := func(with, without string) string { return either(lock != "", with, without) }
	switch name {
	case "pnpm":
		if major == "" {
			l.byNpm("pnpm", pnpmFor(l.repo.read(path.Join(dir, lock))), cmp.Or(lock, "pnpm-workspace.yaml"))
		} // else corepack, which comes with Node.js, fetches the version that is named
		return manager{either(major != "", "corepack pnpm", "pnpm"), frozen("install --frozen-lockfile", "install"), lock, "--recursive --if-present run %s", usualHosts("npm")}
	case "yarn":
		if major > "1" || l.repo.has(path.Join(dir, ".yarnrc.yml")) {
			return manager{either(major != "", "corepack yarn", "yarn"), frozen("install --immutable", "install"), lock, "", usualHosts("yarn")}
		}
		return manager{"yarn", frozen("install --frozen-lockfile", "install"), lock, "", usualHosts("yarn")}
	case "bun":
		l.byNpm("bun", "", cmp.Or(lock, "package.json"))
		return manager{"bun", frozen("install --frozen-lockfile", "install"), lock, "", usualHosts("npm")}
	}
	return manager{"npm", frozen("ci", "install --no-package-lock") + " --no-audit --no-fund", lock, "run %s --workspaces --if-present", usualHosts("npm")}
}

// pnpmFor gives the version that reads a lock file of pnpm, as npm takes it; "" is the newest.
func pnpmFor(lock string) string {
	m := pnpmLock.FindStringSubmatch(lock)
	if m == nil {
		return ""
	}
	return map[string]string{"5": "@7", "6": "@8", "9": "@10"}[m[1]]
}

var pnpmLock = regexp.MustCompile(`(?m)^lockfileVersion: *['"]?([0-9]+)`)

// workspace gives the file that makes a package the top of a workspace, and the
// scripts that its packages have; "" if it is none.
func (l *look) workspace(dir string, m manifest) (file string, scripts map[string]bool) {
	switch {
	case l.repo.has(path.Join(dir, "pnpm-workspace.yaml")):
		file = "pnpm-workspace.yaml"
	case len(m.Workspaces) > 0 && string(m.Workspaces) != "null":
		file = "package.json"
	}
	scripts = map[string]bool{}
	if file == "" {
		return "", scripts
	}
	for _, d := range l.repo.below(dir) {
		var inner manifest
		if err := json.Unmarshal([]byte(l.repo.read(path.Join(d, "package.json"))), &inner); err != nil {
			continue
		}
		for name, script := range inner.Scripts {
			scripts[name] = scripts[name] || unfit(script, false) == ""
		}
	}
	return file, scripts
}
