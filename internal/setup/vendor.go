package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// VendorDir is where a repository has the pipelines, prompts and packages of others, and originsFile says whose.
const (
	VendorDir   = ".github/reprise/vendor/"
	originsFile = VendorDir + source.VendorSources
)

// Origin is a repository that files in VendorDir were taken from.
type Origin struct {
	From   string            `json:"from"` // an address, or a folder from the top of this repository
	Folder string            `json:"folder"`
	Ref    string            `json:"ref"`
	Commit string            `json:"commit"`
	Files  map[string]string `json:"files"` // SHA-256 by path in VendorDir
}

// origin matches SOURCE[@REF][:FOLDER], where SOURCE may have a host with a port and a user for ssh.
var (
	origin   = text.Pattern(`^((?:(?:https?|ssh|git|file)://[^/]*/)?[^:@]+)(?:@([^:]+))?(?::(.+))?$`)
	login    = text.Pattern(`^(https?://[^/]*|\w+://[^/]*:[^/]*)@`)
	onGitHub = text.Pattern(`^[\w-][\w.-]*/[\w.-]+$`)
)

// ParseOrigin reads SOURCE[@REF][:FOLDER].
func ParseOrigin(said string) (Origin, error) {
	m := origin().FindStringSubmatch(said)
	if m == nil || !onGitHub().MatchString(m[1]) && !strings.Contains(m[1], "://") && strings.IndexAny(m[1], "./") != 0 {
		return Origin{}, errors.New("expected OWNER/REPO[@REF][:FOLDER], an address that begins with https:// or ssh://, or a folder that begins with . or /")
	}
	if m[3] = path.Clean(cmp.Or(m[3], ".github/reprise")); !fs.ValidPath(m[3]) {
		return Origin{}, fmt.Errorf("%s is no folder inside the repository", m[3])
	}
	if login().MatchString(m[1]) {
		return Origin{}, errors.New("an address with a login would be committed: give the login to git as a credential")
	}
	if onGitHub().MatchString(m[1]) {
		m[1] = "https://github.com/" + m[1]
	}
	return Origin{From: m[1], Ref: cmp.Or(m[2], "HEAD"), Folder: m[3]}, nil
}

// Origins reads where the files in VendorDir come from.
func Origins(top fs.FS) (all []Origin, err error) {
	data, err := fs.ReadFile(top, originsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	altered := json.Unmarshal(data, &all) != nil
	for _, o := range all {
		for name := range o.Files {
			altered = altered || !plainPath().MatchString(name) || o.Ref == "" || !fs.ValidPath(o.Folder)
		}
	}
	if altered {
		return nil, fmt.Errorf("%s is not as reprise init --from writes it: take it back with git, or remove it and take all anew", originsFile)
	}
	return all, nil
}

// AlteredVendor names the files in VendorDir that are not as they were taken.
func AlteredVendor(top fs.FS) (names []string) {
	all, err := Origins(top)
	if err != nil {
		return []string{originsFile}
	}
	for _, o := range all {
		for name, digest := range o.Files {
			if data, err := fs.ReadFile(top, VendorDir+name); err != nil || phases.DigestOf(text.UnixLines(data)) != digest {
				names = append(names, VendorDir+name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// vendored gives the place in VendorDir of a file of an origin: its pipelines, prompts and packages, and those that it has
// from others; "" for anything else.
func vendored(name string) string {
	name, own := strings.CutPrefix(name, "pipelines/")
	name, others := strings.CutPrefix(name, "vendor/")
	folder, _, deep := strings.Cut(name, "/")
	_, pipeline := source.IsFile(name)
	prompt := folder == "prompts" && path.Ext(name) == ".md" && path.Base(name) != "README.md"
	packaged := strings.Contains(folder, ".") && path.Ext(name) == ".cue"
	return text.If(deep && !own && (prompt || packaged) || !deep && (own || others) && pipeline && name != source.VendorSources, name)
}

// plainPath is a path that means the same everywhere, and hides nothing.
var plainPath = text.Pattern(`^\w[\w.@+-]*(/\w[\w.@+-]*)*$`)

// VendorChange is what an origin makes of a file.
type VendorChange struct {
	Name    string // from the top of the repository
	Stat    string // such as new, or +3 -1
	Altered bool   // it is here, and not as it was taken from there
	now     []byte // nil: it goes
}

// Update gives an origin as it is at a commit with these files, and those here which it changes.
func (o Origin) Update(root *os.Root, commit string, files map[string][]byte) (Origin, []VendorChange, error) {
	was, now, taken := o.Files, map[string][]byte{}, map[string]bool{}
	o.Commit, o.Files = commit, map[string]string{}
	for name, data := range files {
		to := vendored(strings.TrimPrefix(name, o.Folder+"/"))
		switch {
		case to == "":
			continue
		case !plainPath().MatchString(to) || !utf8.Valid(data) || bytes.Contains(data, []byte{0}) || taken[strings.ToLower(to)]:
			return o, nil, fmt.Errorf("%s: %q is not taken: expected text, once, under a name of letters, digits and . _ - + @", o.From, name)
		}
		taken[strings.ToLower(to)] = true // as some machines take both for one file
		now[to] = text.UnixLines(data)
		o.Files[to] = phases.DigestOf(now[to])
	}
	if len(now) == 0 {
		return o, nil, fmt.Errorf("%s: no pipelines, prompts or packages in %s of commit %s", o.From, o.Folder, commit)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(now))
	slices.Sort(names)
	var changes []VendorChange
	for _, name := range slices.Compact(names) {
		c := VendorChange{Name: VendorDir + name, Stat: "removed", now: now[name]}
		here, err := root.ReadFile(c.Name)
		here = text.UnixLines(here)
		there := err == nil
		c.Altered = there && phases.DigestOf(here) != was[name]
		switch lines := string(diff.Diff("a", here, "b", c.now)); {
		case !there && !errors.Is(err, fs.ErrNotExist):
			return o, nil, err
		case there == (c.now != nil) && lines == "":
			continue
		case !there:
			c.Stat = "new"
		case c.now != nil:
			c.Stat = fmt.Sprintf("+%d -%d", strings.Count(lines, "\n+")-1, strings.Count(lines, "\n-")-1)
		}
		c.Stat += text.If(c.Altered, ", not as taken from there")
		changes = append(changes, c)
	}
	return o, changes, nil
}

// WriteVendor makes changes, and writes down where the files come from.
func WriteVendor(root *os.Root, origins []Origin, changes []VendorChange) error {
	said, err := text.JSON(origins)
	var texts []GeneratedFile
	for _, c := range changes {
		if c.now != nil {
			texts = append(texts, GeneratedFile{Name: c.Name, Text: string(c.now)})
		} else {
			err = errors.Join(err, root.Remove(c.Name))
		}
	}
	return errors.Join(err, WriteFiles(root, append(texts, GeneratedFile{Name: originsFile, Text: string(said)})))
}
