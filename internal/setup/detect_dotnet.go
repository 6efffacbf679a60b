package setup

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// dotnet looks for a solution or a project of .NET.
func dotnet(l *look, dir string) bool {
	file := solution(l, dir)
	if file == "" {
		return false
	}
	projects := l.repo.projects(dir)
	if len(projects) > 0 && !slices.ContainsFunc(projects, ofSDK) {
		l.unused(path.Join(dir, file), "its projects are of .NET Framework, which is built on Windows alone")
		return true
	}
	options, why := "", file
	if l.repo.anyFile(dir, deepProjects, func(name string) bool { return name == "packages.lock.json" }) {
		options, why = " --locked-mode", file+" and packages.lock.json"
	}
	setup := l.add(&l.found.Setup, "nuget-packages", "dotnet restore "+file+options, why)
	setup.Hosts, setup.Env, setup.Timeout = l.repo.fetches(dir, usualHosts("nuget"), nugetSettings()...), dotnetEnv(), "20m"
	if dir != "." {
		setup.Hosts = l.repo.fetches(".", setup.Hosts, nugetSettings()...)
	}
	// What restore leaves in obj names the folder it ran in, so that a check restores again, from the home.
	if slices.ContainsFunc(projects, testProject.MatchString) {
		c := l.test("dotnet", "dotnet test "+file, file)
		c.Env, c.Timeout = dotnetEnv(), "30m"
		return true
	}
	c := l.add(&l.found.Checks, "build", "dotnet build "+file, file)
	c.Env, c.Timeout = dotnetEnv(), "30m"
	return true
}

// solution gives the file of a folder that all is built by, and notes those beside it.
func solution(l *look, dir string) (file string) {
	for _, endings := range [][]string{{".slnx", ".sln"}, {".csproj", ".fsproj", ".vbproj"}} {
		for _, name := range l.repo.files(dir, 0, func(name string) bool { return slices.Contains(endings, path.Ext(name)) }) {
			switch {
			case !plainFile.MatchString(path.Base(name)):
				l.unused(name, "its name is not a plain word for the shell")
			case file == "":
				file = path.Base(name)
			default:
				l.unused(name, file+" beside it is used")
			}
		}
		if file != "" {
			return file
		}
	}
	return ""
}

const deepProjects = 3 // folders below a solution

// projects gives the texts of the projects in a folder, with what they have in common.
func (r repository) projects(dir string) (texts []string) {
	for _, name := range r.files(dir, deepProjects, func(name string) bool {
		return strings.HasSuffix(name, "proj") || name == "Directory.Build.props"
	}) {
		texts = append(texts, r.read(name))
	}
	return texts
}

// ofSDK tells a project that is built on every system from one of .NET Framework.
func ofSDK(text string) bool {
	return strings.Contains(text, "Sdk=") || strings.Contains(text, "<Sdk ")
}

var (
	// plainFile is no option, and the shell reads nothing else in it.
	plainFile   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
	testProject = regexp.MustCompile(`"(?:Microsoft\.NET\.Test\.Sdk|MSTest\.Sdk[/"]|MSTest"|TUnit")|<IsTestProject>\s*true`)
)

// dotnetEnv has the program tell nobody of its use, and leave no servers behind that
// hold its output open.
func dotnetEnv() map[string]string {
	return map[string]string{"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "MSBUILDDISABLENODEREUSE": "1", "UseSharedCompilation": "false"}
}

func nugetSettings() []string { return []string{"nuget.config", "NuGet.config", "NuGet.Config"} }
