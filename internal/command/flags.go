package command

import (
	"slices"
	"strings"
)

// readFlags reads flags up to the first word that is not one.
func (r *reader) readFlags() {
	for {
		word := r.peek()
		name, value, given, ok := r.spec.asFlag(word)
		if !ok {
			return
		}
		r.take()
		if flag, known := r.spec.flag(name); known {
			r.readFlag(flag, value, given)
			continue
		}
		if near := r.spec.nearestFlag(name); near != "" {
			r.fault(faultNoFlagNear, flagOf(word), "--"+near)
		} else {
			r.fault(faultNoFlag, flagOf(word))
		}
	}
}

// readFlag reads the value of a flag, which is given if it stands behind an
// equals sign.
func (r *reader) readFlag(flag param, value string, given bool) {
	name := "--" + flag.Name
	if slices.Contains(r.seen, name) {
		r.fault(faultTwice, name)
	}
	r.seen = append(r.seen, name)
	if flag.Kind == kindSwitch {
		if given {
			r.fault(faultNoValue, name)
		}
		put(flag.field(&r.command), "")
		return
	}
	if !given && flag.Kind != kindRefresh {
		if _, _, _, isFlag := r.spec.asFlag(r.peek()); !isFlag || flag.Kind == kindPhases && !strings.HasPrefix(r.peek(), "--") {
			value = r.take()
		}
	}
	switch {
	case flag.Kind == kindRefresh && !given:
		put(flag.field(&r.command), "")
	case value == "":
		r.fault(faultNeedsValue, name, flag.usage())
	case !flag.Kind.Fits(fold(value)):
		r.fault(faultBadFlag, value, flag.Kind.form(), name)
	default:
		put(flag.field(&r.command), fold(value))
	}
}

// asFlag takes a word apart if it is a flag, of any command: it begins with a
// hyphen and goes on. Keyboards make one dash of two hyphens, which counts
// where the rest is a flag of this command.
func (s Spec) asFlag(word string) (name, value string, given, ok bool) {
	name = strings.TrimLeft(word, "-–—")
	dashes := word[:len(word)-len(name)]
	name, value, given = strings.Cut(name, "=")
	name = fold(name)
	_, known := s.flag(name)
	switch {
	case name == "" && !given, dashes == "":
		return "", "", false, false
	case dashes == "--", dashes == "–" && known, dashes == "—" && known:
		return name, value, given, true
	}
	return "-" + name, value, given, dashes[0] == '-' // which no flag is called
}

// nearestFlag gives the flag that was probably meant, or "".
func (s Spec) nearestFlag(name string) string {
	var names []string
	for _, f := range s.Flags {
		names = append(names, f.Name)
	}
	return Nearest(strings.TrimLeft(name, "-"), names)
}

// flagOf is a flag as it was typed, without its value.
func flagOf(word string) string {
	word, _, _ = strings.Cut(word, "=")
	return word
}
