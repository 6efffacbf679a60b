package setup

import (
	"path"
	"regexp"
	"slices"
	"sync"
)

// The hosts that package managers fetch from where nobody has told them otherwise.
func goHosts() []string {
	return []string{"proxy.golang.org", "sum.golang.org", "storage.googleapis.com"} // the proxy sends on to the last for large modules
}
func npmHosts() []string { return []string{"registry.npmjs.org"} }
func yarnHosts() []string {
	return []string{"registry.yarnpkg.com", "registry.npmjs.org", "repo.yarnpkg.com"}
}
func pythonHosts() []string { return []string{"pypi.org", "files.pythonhosted.org"} }
func crateHosts() []string  { return []string{"index.crates.io", "static.crates.io"} }
func gemHosts() []string    { return []string{"rubygems.org", "index.rubygems.org"} }

// The hosts beside the first say which certificates are revoked: every package of nuget.org is signed.
func nugetHosts() []string {
	return []string{"api.nuget.org", "crl3.digicert.com", "crl4.digicert.com", "ocsp.digicert.com"}
}

const mostHosts = 20 // of a command; more is not what people have in mind

// namedHost is where lock files and settings of package managers say where packages
// come from. Addresses for people, such as a homepage, stand at other places.
var namedHost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:"resolved": *"|^ *resolved "|tarball: *"?|^ *remote: *|^ *source ["']|\b(?:source|url|git|registry|index) = "(?:git\+|sparse\+)?|registry=|npmRegistryServer: *"?|^(?:-i|--index-url|--extra-index-url)[ =]|\bgit\+|<add [^>]*\bvalue *= *["'])https://([a-z0-9][a-z0-9.-]*[a-z0-9](?::[0-9]{1,5})?)[/"'<\s]`)
})

// plainHost is a host, with its port or without, as it stands in such an address.
var plainHost = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*[a-z0-9](?::[0-9]{1,5})?$`) })

// fetches gives the hosts that a package manager fetches from: the usual ones, and
// those that files in the folder name.
func (r repository) fetches(dir string, usual []string, files ...string) []string {
	for _, file := range files {
		for _, m := range namedHost().FindAllStringSubmatch(r.read(path.Join(dir, file)), -1) {
			if len(usual) < mostHosts && !slices.Contains(usual, m[1]) {
				usual = append(usual, m[1])
			}
		}
	}
	return usual
}
