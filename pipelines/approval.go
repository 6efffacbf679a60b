package pipelines

import "encoding/json"

// ApprovalSettings is who has to approve a phase: people with at least a role, one if Count is 0. The
// zero value asks nobody.
type ApprovalSettings struct {
	Role  string
	Count int
}

// UnmarshalJSON reads a role, or an object with a role and a count.
func (a *ApprovalSettings) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &a.Role)
	}
	type plain ApprovalSettings
	return json.Unmarshal(data, (*plain)(a))
}
