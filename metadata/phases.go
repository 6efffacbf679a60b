package metadata

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Phases are the phases of a run in pipeline order. In JSON they are an
// object with the names as keys, in the same order.
type Phases []Phase

// Names are those of the phases, in their order.
func (p Phases) Names() (all []string) {
	for _, phase := range p {
		all = append(all, phase.Name)
	}
	return all
}

// Phase returns the phase of that name, or nil. It points into r: what is written through it is written to r.
func (r *Run) Phase(name string) *Phase {
	for i := range r.Phases {
		if r.Phases[i].Name == name {
			return &r.Phases[i]
		}
	}
	return nil
}

// MarshalJSONTo writes the phases as an object. Two phases of the same name are an error.
func (ps Phases) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range ps {
		if err := enc.WriteToken(jsontext.String(ps[i].Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, &ps[i]); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// UnmarshalJSONFrom reads an object of phases and keeps its order. A name that occurs twice is an error.
func (ps *Phases) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*ps = nil
	if dec.PeekKind() != jsontext.KindBeginObject {
		return json.UnmarshalDecode(dec, &map[string]Phase{}) // fails, and says what was expected
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		p := Phase{Name: name.String()}
		if err := json.UnmarshalDecode(dec, &p); err != nil {
			return err
		}
		*ps = append(*ps, p)
	}
	_, err := dec.ReadToken()
	return err
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (ps Phases) MarshalJSON() ([]byte, error) {
	return json.Marshal(ps, jsontext.AllowInvalidUTF8(true))
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (ps *Phases) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, ps) }

// Clone returns a copy that shares nothing with r: whatever is changed in one is not seen in the other.
func (r Run) Clone() Run { return Copy(r, nil) }

// Copy gives a value that shares nothing with v, in which every text is changed, if change is not nil. Values have no
// cycles, and times stay as they are.
func Copy[T any](v T, change func(string) string) T {
	return copied(reflect.ValueOf(v), change).Interface().(T)
}

func copied(v reflect.Value, change func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		if change != nil {
			out.SetString(change(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(copied(v.Elem(), change))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copied(v.Index(i), change))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(it.Key(), copied(it.Value(), change))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(copied(v.Field(i), change))
			}
		}
	}
	return out
}
