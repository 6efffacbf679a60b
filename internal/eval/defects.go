package eval

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Mutation is a mistake that is planted: one text in a file in place of another.
type Mutation struct {
	File     string `json:"file"` // from the top of the repository
	Find     string `json:"find"`
	Replace  string `json:"replace"`
	Line     int    `json:"line,omitzero"` // counts from 1; 0: Find is in the file once
	Operator string `json:"operator,omitempty"`
}

// byPeople is the operator of a defect that nobody planted: people found it in work that a
// review had accepted, and only they know the place.
const byPeople = "found by people"

// String says where the defect is and what is planted there, or that people found it.
func (m Mutation) String() string {
	if m.Operator == byPeople {
		return "what people found in this work"
	}
	return fmt.Sprintf("%s:%d: %s: %s in place of %s", m.File, m.Line, m.Operator, strings.TrimSpace(m.Replace), strings.TrimSpace(m.Find))
}

// operator changes what a pattern finds on a line. The pattern has one group, which is
// what is replaced.
type operator struct {
	name    string
	pattern *regexp.Regexp
	with    map[string]string
}

// operators are those for the languages that the endings name.
var operators = sync.OnceValue(func() map[string][]operator {
	of := func(name, pattern string, pairs ...string) operator {
		with := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			with[pairs[i]], with[pairs[i+1]] = pairs[i+1], pairs[i]
		}
		return operator{name, regexp.MustCompile(pattern), with}
	}
	all := []operator{
		of("boundary", `\s(<=?|>=?)\s`, "<", "<=", ">", ">="),
		of("off by one", `([+-]) 1\b`, "+", "-"),
	}
	braces := append(slices.Clone(all), of("equality", `\s([=!]==?)\s`, "==", "!=", "===", "!=="), of("logic", `\s(&&|\|\|)\s`, "&&", "||"), of("result", `\breturn (true|false)\b`, "true", "false"))
	script := append(slices.Clone(braces), operator{"not awaited", regexp.MustCompile(`(\bawait )`), map[string]string{"await ": ""}})
	return map[string][]operator{
		".go": append(slices.Clone(braces), operator{"not released", regexp.MustCompile(`^\s*(defer .*)$`), nil}),
		".js": script, ".mjs": script, ".cjs": script, ".ts": script, ".jsx": script, ".tsx": script,
		".py": append(slices.Clone(all), of("equality", `\s([=!]=)\s`, "==", "!="), of("logic", `\s(and|or)\s`, "and", "or"), of("result", `\breturn (True|False)\b`, "True", "False")),
	}
})

// canPlant reports whether there are operators for a file.
func canPlant(name string) bool { return operators()[path.Ext(name)] != nil }

// defectsIn lists the defects that can be planted on lines of a file, that only has.
func defectsIn(name, content string, only map[int]bool) (found []Mutation) {
	n := 0
	for line := range strings.Lines(content) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if !only[n] || isComment(line) {
			continue
		}
		for _, o := range operators()[path.Ext(name)] {
			at := o.pattern.FindStringSubmatchIndex(line)
			if at == nil || quoted(line[:at[2]]) {
				continue
			}
			was := line[at[2]:at[3]]
			found = append(found, Mutation{name, line, line[:at[2]] + o.with[was] + line[at[3]:], n, o.name})
		}
	}
	return found
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*")
}

// quoted reports whether what follows a beginning of a line stands in quotes.
func quoted(before string) bool {
	for _, q := range []string{`"`, "'", "`"} {
		if strings.Count(before, q)%2 == 1 {
			return true
		}
	}
	return false
}

// someDefects chooses at most so many, always the same ones, spread over files and lines.
func someDefects(all []Mutation, most int) []Mutation {
	all = slices.SortedFunc(slices.Values(all), func(a, b Mutation) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Operator, b.Operator))
	})
	var some []Mutation
	for i := range min(len(all), most) {
		some = append(some, all[i*len(all)/min(len(all), most)])
	}
	return some
}

// hunkHead begins a hunk, with the first line that it adds and how many, which is 1 if it does
// not say it.
var hunkHead = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// addedLines gives, by file, the lines that a diff adds, as git diff --unified=0 prints it.
func addedLines(diff string) map[string]map[int]bool {
	lines, file := map[string]map[int]bool{}, ""
	for text := range strings.Lines(diff) {
		if name, is := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "+++ b/"); is {
			file, lines[name] = name, map[int]bool{}
		}
		if m := hunkHead.FindStringSubmatch(text); m != nil {
			from, _ := strconv.Atoi(m[1])           // digits
			n, _ := strconv.Atoi(cmp.Or(m[2], "1")) // likewise
			for i := range n {
				lines[file][from+i] = true
			}
		}
	}
	return lines
}
