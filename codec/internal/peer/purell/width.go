package purell

// foldWidth maps fullwidth characters to their narrow form and halfwidth ones
// to their wide form, as width.Fold of golang.org/x/text does (UAX 11).
func foldWidth(r rune) rune {
	switch {
	case r == 0x3000:
		return ' '
	case 0xFF01 <= r && r < firstFolded:
		return r - 0xFF01 + '!'
	case firstFolded <= r && r < firstFolded+rune(len(folded)):
		if f := folded[r-firstFolded]; f != '0' {
			return f
		}
	}
	return r
}

const firstFolded = 0xFF5F

// folded has the folded characters from firstFolded, or '0' for a character
// that stays.
var folded = []rune("⦅⦆。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセ" +
	"ソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン\u3099" +
	"\u309a\u3164ㄱㄲㄳㄴㄵㄶㄷㄸㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅃㅄㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ" +
	"000ㅏㅐㅑㅒㅓㅔ00ㅕㅖㅗㅘㅙㅚ00ㅛㅜㅝㅞㅟㅠ00ㅡㅢㅣ00" +
	"0¢£¬¯¦¥₩0│←↑→↓■○")
