import java.io.*;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.*;

/** Prints what Java makes of each line: `s <number>` and `p <number>` are BigDecimal.toString and toPlainString, `7` and
 *  `6 <number>` toString after rounding to DECIMAL32 and DECIMAL64, `8` and `9` toPlainString of the same, `o <names with blanks>` the names in the order of a
 *  HashMap (`4 ` before the names: made with that capacity), `d` and `t` LocalDateTime and LocalTime.toString, `b <hex>`
 *  Base64. */
public class JavaNumbers {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false, "UTF-8");
        for (String line; (line = in.readLine()) != null; ) {
            String rest = line.substring(2);
            switch (line.charAt(0)) {
                case 's': out.println(new BigDecimal(rest)); break;
                case 'p': out.println(new BigDecimal(rest).toPlainString()); break;
                case '7': out.println(new BigDecimal(rest).round(MathContext.DECIMAL32)); break;
                case '6': out.println(new BigDecimal(rest).round(MathContext.DECIMAL64)); break;
                case '8': out.println(new BigDecimal(rest).round(MathContext.DECIMAL32).toPlainString()); break;
                case '9': out.println(new BigDecimal(rest).round(MathContext.DECIMAL64).toPlainString()); break;
                case 'd': out.println(LocalDateTime.parse(rest)); break;
                case 't': out.println(LocalTime.parse(rest)); break;
                case 'b': out.println(Base64.getEncoder().encodeToString(HexFormat.of().parseHex(rest))); break;
                default:
                    String[] names = rest.substring(2).split(" ");
                    Map<String, String> map = rest.charAt(0) == '4' ? new HashMap<>(4) : new HashMap<>();
                    for (String name : names) map.put(name, "");
                    out.println(String.join(" ", map.keySet()));
            }
        }
        out.flush();
    }
}
