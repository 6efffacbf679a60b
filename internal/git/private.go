package git

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Privately takes the settings that may hold a login, those of HTTP and of
// credentials, out of git's environment, which every process of the same user
// can read. Git reads them from a file without a name instead, which only git
// and its children have open. On systems without such files the settings stay
// in the environment.
func privately(settings []setting) (open []setting, private string) {
	if !folders.Nameless {
		return settings, ""
	}
	b := &strings.Builder{}
	for _, s := range settings {
		section, rest, _ := strings.Cut(s.Key, ".")
		if section != "http" && section != "credential" {
			open = append(open, s)
			continue
		}
		if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
			section, rest = section+" "+quoted(rest[:dot]), rest[dot+1:]
		}
		fmt.Fprintf(b, "[%s]\n\t%s = %s\n", section, rest, quoted(s.Value))
	}
	if b.Len() == 0 {
		return open, ""
	}
	return append(open, setting{"include.path", privateFile}), b.String()
}

// privateFile is the file that git finds them by: it is the first that a command
// is started with besides its standard input and output.
const privateFile = "/proc/self/fd/3"

// Files gives a command the files that c wants it to have open. The function it
// returns closes those of them that nobody else needs.
func (c call) Files(cmd *exec.Cmd) (done func(), err error) {
	done = func() {}
	if c.Private != "" {
		file, err := folders.NamelessFile(c.Private)
		if err != nil {
			return done, fmt.Errorf("a file for the login of git: %w", err)
		}
		done = func() { _ = file.Close() } // git has its own
		cmd.ExtraFiles = []*os.File{file}
	}
	if c.Lock != nil {
		cmd.ExtraFiles = append(slices.Clip(cmd.ExtraFiles), c.Lock)
	}
	return done, nil
}

// SecretsIn lists the header values in settings, whole and by word.
func secretsIn(settings []setting) []string {
	var out []string
	for _, s := range settings {
		if strings.HasSuffix(s.Key, ".extraheader") && s.Value != "" {
			f := strings.Fields(s.Value)
			out = append(out, s.Value, f[len(f)-1])
		}
	}
	return out
}
