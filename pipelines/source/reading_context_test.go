package source

import (
	"strings"
	"testing"

	"cuelang.org/go/cue"
)

// TestStandardPackages evaluates something of every package of CUE that a file may import.
func TestStandardPackages(t *testing.T) {
	for path, expr := range map[string]string{
		"crypto/ed25519":  `ed25519.PublicKeySize == 32`,
		"crypto/hmac":     `len(hmac.Sign(hmac.SHA256, "k", "x")) == 32`,
		"crypto/md5":      `len(md5.Sum("x")) == 16`,
		"crypto/sha1":     `len(sha1.Sum("x")) == 20`,
		"crypto/sha256":   `len(sha256.Sum256("x")) == 32`,
		"crypto/sha512":   `len(sha512.Sum512("x")) == 64`,
		"encoding/base64": `base64.Encode(null, "x") == "eA=="`,
		"encoding/csv":    `len(csv.Decode("a,b")) == 1`,
		"encoding/hex":    `hex.Encode("x") == "78"`,
		"encoding/json":   `json.Marshal({a: 1}) == "{\"a\":1}"`,
		"encoding/toml":   `toml.Unmarshal("a = 1").a == 1`,
		"encoding/yaml":   `yaml.Unmarshal("a: 1").a == 1`,
		"html":            `html.Escape("<") == "&lt;"`,
		"list":            `list.Sum([1, 2]) == 3`,
		"math":            `math.Abs(-1) == 1`,
		"math/bits":       `bits.OnesCount(3) == 2`,
		"net":             `net.JoinHostPort("a", "1") == "a:1"`,
		"path":            `path.Base("a/b", path.Unix) == "b"`,
		"regexp":          `regexp.Match("x", "x")`,
		"strconv":         `strconv.Atoi("1") == 1`,
		"strings":         `strings.ToUpper("x") == "X"`,
		"struct":          `(struct.MinFields(1) & {a: 1}).a == 1`,
		"text/tabwriter":  `len(tabwriter.Write("x")) > 0`,
		"text/template":   `template.Execute("{{.}}", "x") == "x"`,
		"time":            `time.Unix(0, 0) == "1970-01-01T00:00:00Z"`,
		"uuid":            `uuid.Version("5c4a5d6e-0000-4000-8000-000000000000") == 4`,
	} {
		v, found := newLibrary(NewContext(), nil).build(file{Name: "file.cue", Text: "import \"" + path + "\"\nholds: " + expr + "\n"})
		if len(found) > 0 {
			t.Errorf("%s: %v", path, found)
			continue
		}
		if holds, err := v.LookupPath(cue.ParsePath("holds")).Bool(); err != nil || !holds {
			t.Errorf("%s: %s is %v (%v)", path, expr, holds, err)
		}
	}
}

// TestNoOtherPackages shows that what a file may not import or embed is a mistake with its place.
func TestNoOtherPackages(t *testing.T) {
	for text, want := range map[string]string{
		"import \"tool/exec\"\nx: exec.Run\n":                         `file.cue:1:8: builtin package "tool/exec" undefined`,
		"import \"example.com/other\"\nx: other.a\n":                  "file.cue:1:8: ",
		"@extern(embed)\n\npackage x\n\nx: _ @embed(file=file.cue)\n": `file.cue:1:1: no injection defined for "embed"`,
	} {
		_, found := newLibrary(NewContext(), nil).build(file{Name: "file.cue", Text: text})
		if len(found) == 0 || !strings.HasPrefix(found[0].Error(), want) {
			t.Errorf("%q: found %v, want %q", text, found, want)
		}
	}
}
