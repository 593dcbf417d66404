import crawlercommons.filters.basic.BasicURLNormalizer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Normalizes URLs with BasicURLNormalizer. Reads a URL per line, as x and the
 * hexadecimal digits of its bytes, which are decoded as UTF-8 with U+FFFD for
 * malformed input. Writes a line per URL: x and hexadecimal digits, or - where
 * the normalizer returns null or throws an exception.
 */
public class Runner {
    public static void main(String[] args) throws Exception {
        BasicURLNormalizer normalizer = new BasicURLNormalizer();
        HexFormat hex = HexFormat.of();
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
                BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.US_ASCII))) {
            for (String line; (line = in.readLine()) != null;) {
                String url = new String(hex.parseHex(line.substring(1)), StandardCharsets.UTF_8);
                String norm;
                try {
                    norm = normalizer.filter(url);
                } catch (RuntimeException e) {
                    norm = null;
                }
                out.write(norm == null ? "-" : "x" + hex.formatHex(norm.getBytes(StandardCharsets.UTF_8)));
                out.newLine();
            }
        }
    }
}
