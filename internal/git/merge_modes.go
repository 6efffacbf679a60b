package git

import (
	"fmt"
	"strings"
)

// Modes says in some lines which modes the sides have at those paths in conflict where they
// are not all the same; "" if there is none. What files hold does not show that. Base, ours and
// theirs are what the three sides are called.
func Modes(all []Conflict, base, ours, theirs string) string {
	var out strings.Builder
	for _, c := range all {
		var said []string
		different, one := false, ""
		for _, side := range []struct{ name, mode string }{{base, c.Base.Mode}, {ours, c.Ours.Mode}, {theirs, c.Theirs.Mode}} {
			if side.mode == "" {
				continue
			}
			said = append(said, side.name+" "+side.mode)
			different, one = different || one != "" && one != side.mode, side.mode
		}
		if different {
			fmt.Fprintf(&out, "%s: %s\n", c.Path, strings.Join(said, ", "))
		}
	}
	return out.String()
}
