package detect

// maven looks for a project of Maven.
func maven(l *look, dir string) bool {
	if l.repo.first(dir, "pom.xml") == "" {
		return false
	}
	mvn, why := "mvn", "pom.xml"
	if l.repo.first(dir, "mvnw") != "" {
		mvn, why = "sh ./mvnw", "pom.xml and mvnw"
	}
	// The goals that resolve dependencies leave out those of plugins, so that all is compiled once.
	l.add(&l.found.Setup, "maven-packages", mvn+" --batch-mode --no-transfer-progress test-compile", why).Timeout = "20m"
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
	l.add(&l.found.Setup, "gradle-packages", program+" --no-daemon testClasses", why).Timeout = "20m"
	l.test("gradle", program+" --no-daemon check", why).Timeout = "30m"
	return true
}
