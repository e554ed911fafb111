// Package policy reads policies: strict YAML into typed values that know where they stand, the settings
// and rules that all gates have in common, and the sections of a release file. It knows no gate.
//
//  1. Parse turns bytes into a tree of Maps. Whatever YAML lets two readers understand differently
//     (anchors, merge keys, explicit tags, repeated keys, a second document) is an error.
//  2. Load reads the settings at the top and finds the sections: bare rules, or one section or more a gate.
//  3. Merge adds the settings of a second source (--policy beside a declaration, or flags).
//  4. ReadRules reads a section's rules through the gate's RuleSpec: its metrics and its thresholds.
//  5. The gate reads its own keys from Section.Map and Rule.Map and then calls Done on each, which
//     reports every key that nobody asked for.
//
// Changes compares two documents, and says what the later one makes easier to pass.
//
// Nothing stops at the first problem: everything found goes to the diag.List given to Parse, and a value
// that could not be read counts as not set. A caller decides nothing while that list has an entry.
//
// policy.schema.json is the same in JSON Schema, for editors.
package policy
