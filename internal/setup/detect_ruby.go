package setup

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

var rakeTest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Rake::TestTask|task\s*\(?\s*:?["']?(test|default)\b|RSpec::Core::RakeTask`)
})

// ruby looks for a project of Bundler.
func ruby(l *look, dir string) bool {
	gemfile := l.repo.read(path.Join(dir, "Gemfile"))
	if gemfile == "" {
		return false
	}
	place := map[string]string{"BUNDLE_PATH": "vendor/bundle"} // in the tree, where agents find it as well
	all := gemfile + l.repo.read(path.Join(dir, "Gemfile.lock"))
	setup := l.add(&l.found.Setup, "gems", "bundle install", either(l.repo.first(dir, "Gemfile.lock") != "", "Gemfile and Gemfile.lock", "Gemfile"))
	setup.Hosts = l.repo.fetches(dir, gemHosts(), "Gemfile", "Gemfile.lock")
	setup.Env, setup.Leaves, setup.Timeout = place, []string{"vendor/bundle", ".bundle"}, "20m"
	ended := func(end string) func(string) bool {
		return func(name string) bool { return strings.HasSuffix(name, end) }
	}
	test := func(run, why string) {
		c := l.test("ruby", run, why)
		c.Env, c.Timeout = place, "20m"
	}
	switch {
	case l.repo.first(dir, ".rspec") != "" || l.repo.anyFile(path.Join(dir, "spec"), 3, ended("_spec.rb")):
		test("bundle exec rspec", "Gemfile and spec")
	case l.repo.first(dir, "bin/rails") != "" && l.repo.anyFile(path.Join(dir, "test"), 3, ended("_test.rb")):
		test("bundle exec rails test", "bin/rails and test")
	case rakeTest().MatchString(l.repo.read(path.Join(dir, "Rakefile"))):
		test("bundle exec rake test", "Rakefile")
	}
	if regexp.MustCompile(`(?m)^\s*(gem ["'])?rubocop\b`).MatchString(all) {
		l.add(&l.found.Checks, "rubocop", "bundle exec rubocop", "Gemfile").Env = place
	}
	return true
}
