package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxDecimal = 64  // bytes of a decimal
	maxScale   = 154 // its places; 64 bytes have 154 digits
)

// appendText appends the text of a stored value to dst. The error says why there is none.
func (c *Column) appendText(dst, value []byte) ([]byte, error) {
	switch c.meaning {
	case meansDecimal:
		if len(value) == 0 || len(value) > maxDecimal {
			return nil, fmt.Errorf("found a decimal of %d bytes, and 1 to %d are read", len(value), maxDecimal)
		}
		return appendDecimal(dst, c.unscaled(value), c.scale), nil
	case meansDate:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(c.integer(value))).AppendFormat(dst, time.DateOnly), nil
	case meansTime:
		ticks := c.integer(value)
		if ticks < 0 || ticks >= int64(24*time.Hour)/int64(c.perTick) {
			return nil, errors.New("found a time of day that no day has")
		}
		return appendClock(dst, time.Unix(0, ticks*int64(c.perTick)).UTC(), "15:04:05", c.utc), nil
	case meansTimestamp:
		at, err := c.time(value)
		if err != nil {
			return nil, err
		}
		return appendClock(dst, at, "2006-01-02T15:04:05", c.utc || c.physical == physicalInt96), nil
	case meansUUID:
		h := hex.EncodeToString(value)
		return append(dst, strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")...), nil
	}
	switch c.physical {
	case physicalBoolean:
		return strconv.AppendBool(dst, value[0] != 0), nil
	case physicalInt32, physicalInt64:
		if c.unsigned {
			n := uint64(c.integer(value))
			if c.width == 4 {
				n &= math.MaxUint32
			}
			return strconv.AppendUint(dst, n, 10), nil
		}
		return strconv.AppendInt(dst, c.integer(value), 10), nil
	case physicalFloat:
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(value))), 32), nil
	case physicalDouble:
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(value)), 64), nil
	}
	if !utf8.Valid(value) {
		return nil, errors.New("found bytes that are no text in UTF-8")
	}
	return append(dst, value...), nil
}

// integer is a stored whole number.
func (c *Column) integer(value []byte) int64 {
	if c.width == 4 {
		return int64(int32(binary.LittleEndian.Uint32(value)))
	}
	return int64(binary.LittleEndian.Uint64(value))
}

// unscaled is a stored decimal × 10^scale.
func (c *Column) unscaled(value []byte) *big.Int {
	if c.physical == physicalInt32 || c.physical == physicalInt64 {
		return big.NewInt(c.integer(value))
	}
	// Two's complement in big-endian order.
	n := new(big.Int).SetBytes(value)
	if len(value) > 0 && value[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
	}
	return n
}

// appendDecimal writes n / 10^scale exactly, as briefly as that goes.
func appendDecimal(dst []byte, n *big.Int, scale int) []byte {
	digits := new(big.Int).Abs(n).String()
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, part := digits[:len(digits)-scale], strings.TrimRight(digits[len(digits)-scale:], "0")
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, whole...)
	if part != "" {
		dst = append(append(dst, '.'), part...)
	}
	return dst
}

// appendFloat writes the shortest decimal that is read as f again, whole numbers without a point; very large and small ones with an
// exponent.
func appendFloat(dst []byte, f float64, size int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 0):
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	case f == 0: // also −0
		return append(dst, '0')
	}
	form := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, size)
}

// julianUnix is the Julian day number of 1970-01-01.
const julianUnix = 2_440_588

// time is a stored point in time.
func (c *Column) time(value []byte) (time.Time, error) {
	if c.physical == physicalInt96 { // nanoseconds of a day, and its Julian day number
		nanos := binary.LittleEndian.Uint64(value)
		day := int64(int32(binary.LittleEndian.Uint32(value[8:])))
		if nanos >= uint64(24*time.Hour) {
			return time.Time{}, errors.New("found a time that is later than its day")
		}
		return inYears(time.Unix((day-julianUnix)*86400, int64(nanos)))
	}
	ticks, second := c.integer(value), int64(time.Second)/int64(c.perTick)
	whole, part := ticks/second, ticks%second
	return inYears(time.Unix(whole, part*int64(c.perTick)))
}

// inYears is a time in UTC, which must lie in the years that ISO 8601 writes with four digits.
func inYears(at time.Time) (time.Time, error) {
	at = at.UTC()
	if at.Unix() < -62135596800 || at.Unix() > 253402300799 {
		return at, errors.New("found a time outside the years 1 to 9999")
	}
	return at, nil
}

// appendClock writes a time with the fraction of its second, if it has one, and with Z where it is in UTC.
func appendClock(dst []byte, at time.Time, layout string, utc bool) []byte {
	dst = at.AppendFormat(dst, layout)
	if n := at.Nanosecond(); n > 0 {
		dst = append(append(dst, '.'), strings.TrimRight(fmt.Sprintf("%09d", n), "0")...)
	}
	if utc {
		dst = append(dst, 'Z')
	}
	return dst
}
