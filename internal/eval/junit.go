package eval

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// junit writes the results in the form of JUnit, as most CI systems read it: one suite for
// each variant.
func (r Report) junit() string {
	var b strings.Builder
	b.WriteString(xml.Header + "<testsuites>\n")
	for _, v := range r.Variants {
		fmt.Fprintf(&b, "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" time=\"%.3f\">\n", inXML(v.Variant), v.Runs, v.Runs-v.Solved, v.Seconds*float64(v.Runs))
		for _, one := range r.Results {
			if one.Variant != v.Variant {
				continue
			}
			fmt.Fprintf(&b, "    <testcase classname=\"%s\" name=\"run %d\" time=\"%.3f\">", inXML(one.Case), one.Run, one.Facts.Seconds)
			if !one.Solved {
				misses := text.FlatAll(one.Misses)
				fmt.Fprintf(&b, "\n      <failure message=\"%s\">%s</failure>\n    ", inXML(misses[0]), inXML(strings.Join(misses, "\n")))
			}
			b.WriteString("</testcase>\n")
		}
		b.WriteString("  </testsuite>\n")
	}
	return b.String() + "</testsuites>\n"
}

// inXML is a text as XML has it.
func inXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes all
	return b.String()
}
