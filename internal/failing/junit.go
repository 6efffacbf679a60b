package failing

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// JUnit takes a file in the format of JUnit, once the check has printed all. What is in
// another form is left out.
func (a *Account) JUnit(file io.Reader) {
	a.addUnended()
	d := xml.NewDecoder(file)
	d.Strict = false
	suite, name, told := "", "", false
	for {
		token, err := d.Token()
		if err != nil {
			if syntax := (*xml.SyntaxError)(nil); suite != "" && errors.As(err, &syntax) {
				a.add(suite + " [cut off]") // by a crash
			}
			return
		}
		if end, is := token.(xml.EndElement); is && end.Name.Local == "testcase" {
			name = ""
		}
		start, is := token.(xml.StartElement)
		switch {
		case !is:
		case start.Name.Local == "testsuite":
			suite, name = attribute(start, "name"), ""
		case start.Name.Local == "testcase":
			name, told = strings.TrimPrefix(attribute(start, "classname")+" "+attribute(start, "name"), " "), false
			a.ran++
		case start.Name.Local == "failure" || start.Name.Local == "error":
			if name == "" { // outside of a test
				name = strings.TrimSpace(suite + " [" + start.Name.Local + "]")
			}
			if !told {
				a.failed++
			}
			a.add(name)
			told = true // once is enough
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
