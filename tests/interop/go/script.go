// The script of ../script.json: loading, placeholders, generated texts and the comparison.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"math/big"
	"os"
	"strconv"
	"strings"
)

type object = map[string]any

func decode(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

func encode(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

func load(path string) (object, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	value, err := decode(data)
	if err != nil {
		return nil, err
	}
	return value.(object), nil
}

func integer(value any) int64 {
	number, _ := value.(json.Number).Int64()
	return number
}

// expand gives the texts that a rule stands for.
func expand(rule any) []string {
	switch rule := rule.(type) {
	case string:
		return []string{rule}
	case object:
		if text, ok := rule["repeat"].(string); ok {
			return []string{strings.Repeat(text, int(integer(rule["times"])))}
		}
		var texts []string
		for i := integer(rule["from"]); i <= integer(rule["to"]); i++ {
			texts = append(texts, strings.ReplaceAll(rule["series"].(string), "{i}", strconv.FormatInt(i, 10)))
		}
		return texts
	}
	panic("no text rule")
}

func fill(value any, vars map[string]string) any {
	switch value := value.(type) {
	case string:
		for name, text := range vars {
			value = strings.ReplaceAll(value, "{"+name+"}", text)
		}
		return value
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = fill(item, vars)
		}
		return list
	case object:
		filled := object{}
		for key, item := range value {
			filled[key] = fill(item, vars)
		}
		return filled
	}
	return value
}

type checksum struct {
	bytes int64
	hash  hash.Hash32
}

func newChecksum() *checksum { return &checksum{hash: fnv.New32a()} }

func (c *checksum) add(text string) {
	c.hash.Write([]byte(text))
	c.bytes += int64(len(text))
}

func (c *checksum) fnv1a32() string { return fmt.Sprintf("%08x", c.hash.Sum32()) }

func empty(value any) bool {
	members, isObject := value.(object)
	return value == nil || isObject && len(members) == 0
}

func brief(value any) string {
	text := string(encode(value))
	if len(text) > 160 {
		return fmt.Sprintf("%s... (%d bytes)", text[:160], len(text))
	}
	return text
}

// difference is the first one between what the script expects and what came, or "".
func difference(expected, actual any, at string, exact bool) string {
	if !exact && empty(expected) && actual == nil {
		return ""
	}
	switch wanted := expected.(type) {
	case []any:
		if found, ok := actual.([]any); ok {
			if len(wanted) != len(found) {
				return fmt.Sprintf("%s: %d items expected, %d came", at, len(wanted), len(found))
			}
			for i := range wanted {
				if text := difference(wanted[i], found[i], fmt.Sprintf("%s/%d", at, i), exact); text != "" {
					return text
				}
			}
			return ""
		}
	case object:
		if found, ok := actual.(object); ok {
			if exact && len(found) != len(wanted) {
				return fmt.Sprintf("%s: expected %s, got %s", at, brief(expected), brief(actual))
			}
			for key := range wanted {
				if text := difference(wanted[key], found[key], at+"/"+key, exact); text != "" {
					return text
				}
			}
			return ""
		}
	case json.Number:
		if found, ok := actual.(json.Number); ok {
			a, _ := new(big.Rat).SetString(wanted.String())
			b, _ := new(big.Rat).SetString(found.String())
			if a != nil && b != nil && a.Cmp(b) == 0 {
				return ""
			}
		}
	default:
		if expected == actual {
			return ""
		}
	}
	return fmt.Sprintf("%s: expected %s, got %s", at, brief(expected), brief(actual))
}

func pathToURI(path string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
