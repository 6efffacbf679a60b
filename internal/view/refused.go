package view

import (
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// Allowing gives the setting of a pipeline that would allow the hosts that the network of
// an attempt did not have; "" if it was refused none.
func Allowing(a metadata.Attempt) string {
	if a.Refused == "" {
		return ""
	}
	var hosts []string
	for one := range strings.SplitSeq(a.Refused, ", ") {
		host, _, _ := strings.Cut(one, " ")
		hosts = append(hosts, strconv.Quote(host))
	}
	return "network: allow: [" + strings.Join(hosts, ", ") + "]"
}
