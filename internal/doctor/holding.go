package doctor

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/pipelines"
)

// Holding says of the programs of agents which logins of the user they hold
// themselves, a sentence for each. It depends on the variables and files of the user.
func Holding(all map[string]pipelines.Agent, env []string) (out []string) {
	for _, h := range gate.KeysHeldBy(all, env) {
		out = append(out, fmt.Sprintf("%s holds its login itself (%s), so the proxy neither counts nor limits what is asked with it; without that login, a key in %s stays outside",
			h.Program, strings.Join(h.By, ", "), setup.AgentInstalls()[h.Program].Secret))
	}
	return out
}
