package api

import "fmt"

const (
	mostTitle = 256
	mostBody  = 65536
)

func tooLong(resource, name string, most int) object {
	return object{"resource": resource, "field": name, "code": "custom", "message": fmt.Sprintf("%s is too long (maximum is %d characters)", name, most)}
}

// bodyTooLong refuses a text that is longer than GitHub keeps.
func bodyTooLong(resource, body string) *Result {
	if len([]rune(body)) <= mostBody {
		return nil
	}
	no := invalid(object{"resource": resource, "field": "body", "code": "custom", "message": fmt.Sprintf("body is too long (maximum is %d characters)", mostBody)})
	return &no
}
