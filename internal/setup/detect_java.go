package setup

import (
	"encoding/xml"
	"net/url"
	"path"
	"slices"
)

// maven looks for a project of Maven.
func maven(l *look, dir string) bool {
	if l.repo.first(dir, "pom.xml") == "" {
		return false
	}
	mvn, why := "mvn", "pom.xml"
	if l.repo.first(dir, "mvnw") != "" {
		mvn, why = "sh ./mvnw", "pom.xml and mvnw"
	}
	// Only a test that runs fetches what runs tests, which reviewers need who have no network. The
	// goals that resolve dependencies leave that out.
	setup := l.add(&l.found.Setup, "maven-packages", mvn+" --batch-mode --no-transfer-progress test -Dmaven.test.failure.ignore=true", why)
	setup.Timeout, setup.Hosts = "30m", mavenHosts(l.repo, dir)
	l.test("maven", mvn+" --batch-mode --no-transfer-progress test", why).Timeout = "30m"
	return true
}

// gradle looks for a build of Gradle.
func gradle(l *look, dir string) bool {
	file := l.repo.first(dir, "settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle")
	if file == "" {
		return false
	}
	program, why := "gradle", file
	if l.repo.first(dir, "gradlew") != "" {
		program, why = "sh ./gradlew", file+" and gradlew"
	}
	// As for Maven. Where tests fail, it has to compile at least.
	l.add(&l.found.Setup, "gradle-packages", program+" --no-daemon test || "+program+" --no-daemon testClasses", why).Timeout = "30m"
	l.unused("a list of hosts for Gradle", "it needs servers of its own, which a closed network has only where the system allows namespaces; see docs/pipelines.md")
	l.test("gradle", program+" --no-daemon check", why).Timeout = "30m"
	return true
}

// mavenHosts gives the hosts that Maven fetches from: the central repository, and those that
// the project names. Other addresses in it, such as the one to publish to, are not among them.
func mavenHosts(r repository, dir string) []string {
	type repositories struct {
		All     []string `xml:"repositories>repository>url"`
		Plugins []string `xml:"pluginRepositories>pluginRepository>url"`
	}
	var project struct {
		repositories
		Profiles []repositories `xml:"profiles>profile"`
	}
	_ = xml.Unmarshal([]byte(r.read(path.Join(dir, "pom.xml"))), &project) // what can be read of it counts
	hosts := []string{"repo.maven.apache.org"}
	for _, from := range append([]repositories{project.repositories}, project.Profiles...) {
		for _, address := range append(from.All, from.Plugins...) {
			u, err := url.Parse(address)
			if err == nil && u.Scheme == "https" && plainHost().MatchString(u.Host) && len(hosts) < mostHosts && !slices.Contains(hosts, u.Host) {
				hosts = append(hosts, u.Host)
			}
		}
	}
	return hosts
}
