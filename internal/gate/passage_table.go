package gate

import (
	"bytes"
	_ "embed" // the table
	"fmt"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/process"
)

//go:embed providers.yaml
var tableFile []byte

// tables is what providers.yaml says.
type passageTables struct {
	Services  []service
	Addresses []string
	Programs  map[string]program
}

// service is where a provider is, and which variables say so.
type service struct {
	API    API `yaml:"api"`
	Usual  string
	Bases  []string
	Models string
	Keys   []secretKey
}

// secretKey is a variable with a key, and the header in which that is shown.
type secretKey struct {
	Variable, Header, Prefix string
	Login                    bool // it is made for one program
}

// program is one that comes with ways of its own to its models.
type program struct {
	API                   API `yaml:"api"`
	Folder, Instead, Home string
	Settings              []string
	Login                 string
	Hosts, Errands        []string
	Clouds                []cloud
}

// cloud is a way to models through another company.
type cloud struct {
	Name, Variable   string
	Regions, Hosts   []string
	Settings, Logins []string
	Everybody        bool
}

var table = sync.OnceValue(func() passageTables {
	return tableIn[passageTables](tableFile, "providers")
})

// tableIn reads a table of this program by its name.
func tableIn[T any](text []byte, name string) (all T) {
	in := yaml.NewDecoder(bytes.NewReader(text))
	in.KnownFields(true)
	if err := in.Decode(&all); err != nil {
		panic(fmt.Sprintf("%s.yaml of this program: %v", name, err)) // a test reads it
	}
	return all
}

// leads reports whether variables lead a program through a cloud.
func (c cloud) leads(env []string) bool { return process.Lookup(env, c.Variable) != "" }

// hasKey reports whether a key for a service is set: one that any program can use, or a
// login that is made for one.
func hasKey(api API, env []string, login bool) bool {
	return slices.ContainsFunc(table().Services, func(s service) bool {
		return s.API == api && slices.ContainsFunc(s.Keys, func(k secretKey) bool { return k.Login == login && process.Lookup(env, k.Variable) != "" })
	})
}
