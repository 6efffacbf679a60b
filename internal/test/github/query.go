package github

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// queried is one field of a query.
type queried struct {
	Name      string
	Arguments map[string]any
	Fields    []queried
}

var queryTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_]*|-?[0-9.]+|\$|[{}()\[\]:=!@]|\.\.\.|\S`)

type queryReader struct {
	tokens    []string
	variables object
}

// readQuery reads the fields at the top of a query or a mutation.
func readQuery(query string, variables object) ([]queried, error) {
	q := &queryReader{tokens: queryTokens.FindAllString(strings.ReplaceAll(query, ",", " "), -1), variables: variables}
	if first := q.peek(); first == "query" || first == "mutation" {
		q.next()
		if q.peek() != "{" && q.peek() != "(" {
			q.next() // its name
		}
		if err := q.skipParameters(); err != nil {
			return nil, err
		}
	}
	fields, err := q.selections()
	if err == nil && q.peek() != "" {
		err = fmt.Errorf("unexpected %q after the operation", q.peek())
	}
	return fields, err
}

func (q *queryReader) peek() string {
	if len(q.tokens) == 0 {
		return ""
	}
	return q.tokens[0]
}

func (q *queryReader) next() string {
	t := q.peek()
	if t != "" {
		q.tokens = q.tokens[1:]
	}
	return t
}

func (q *queryReader) want(token string) error {
	if got := q.next(); got != token {
		return fmt.Errorf("expected %q, got %q", token, got)
	}
	return nil
}

// skipParameters passes over the declared variables, which all have to be
// given.
func (q *queryReader) skipParameters() error {
	if q.peek() != "(" {
		return nil
	}
	for q.peek() != ")" {
		if q.next() == "" {
			return errors.New("the variables do not end")
		}
		if q.peek() != "$" {
			continue
		}
		q.next()
		if _, given := q.variables[q.peek()]; !given {
			return fmt.Errorf("variable $%s was not given", q.peek())
		}
	}
	return q.want(")")
}

func (q *queryReader) selections() ([]queried, error) {
	if err := q.want("{"); err != nil {
		return nil, err
	}
	var out []queried
	for q.peek() != "}" {
		f := queried{Name: q.next(), Arguments: object{}}
		if f.Name == "" {
			return nil, errors.New("a field does not end")
		}
		var err error
		if q.peek() == "(" {
			q.next()
			if f.Arguments, err = q.fields(")"); err != nil {
				return nil, err
			}
		}
		if q.peek() == "{" {
			if f.Fields, err = q.selections(); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	q.next()
	return out, nil
}

// fields reads name: value until an end.
func (q *queryReader) fields(end string) (object, error) {
	out := object{}
	for q.peek() != end {
		name := q.next()
		if err := q.want(":"); err != nil {
			return nil, err
		}
		value, err := q.value()
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	q.next()
	return out, nil
}

func (q *queryReader) value() (any, error) {
	switch t := q.next(); {
	case t == "$":
		return q.variables[q.next()], nil
	case t == "{":
		return q.fields("}")
	case strings.HasPrefix(t, `"`):
		return strconv.Unquote(t)
	case t == "":
		return nil, errors.New("a value is missing")
	default:
		return t, nil // a number, a boolean, or a name
	}
}
