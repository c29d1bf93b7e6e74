import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Prints what Java makes of each line: `d <bits>`, `f <bits>` in hex are Double and Float.toString, `h <hex>` is
 *  String.hashCode of UTF-16 units, `l <hex>` the UTF-8 bytes, in hex, of bytes read as ISO-8859-1, `a <hex>` is
 *  Arrays.toString of bytes, `p <hash> <n>` are Math.abs(Math.abs(hash) % n) and (hash & 0x7fffffff) % n; `m <hex>,<hex>…` are the places of texts (UTF-16) in the order of a HashMap's keys. */
public class JavaText {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false, "US-ASCII");
        for (String line; (line = in.readLine()) != null; ) {
            String rest = line.substring(2);
            switch (line.charAt(0)) {
                case 'd': out.println(Double.toString(Double.longBitsToDouble(Long.parseUnsignedLong(rest, 16)))); break;
                case 'f': out.println(Float.toString(Float.intBitsToFloat(Integer.parseUnsignedInt(rest, 16)))); break;
                case 'h': out.println(new String(bytes(rest), StandardCharsets.UTF_16BE).hashCode()); break;
                case 'a': out.println(Arrays.toString(bytes(rest))); break;
                case 'p': out.println(partitions(rest.split(" "))); break;
                case 'm': out.println(order(rest.split(",", -1))); break;
                default: out.println(hex(new String(bytes(rest), StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.UTF_8)));
            }
        }
        out.flush();
    }

    static String partitions(String[] words) {
        int hash = Integer.parseInt(words[0]), n = Integer.parseInt(words[1]);
        return Math.abs(Math.abs(hash) % n) + " " + (hash & 0x7fffffff) % n;
    }

    static String order(String[] names) {
        Map<String, Integer> map = new HashMap<>();
        for (int i = 0; i < names.length; i++) map.put(new String(bytes(names[i]), StandardCharsets.UTF_16BE), i);
        return map.values().toString();
    }

    static byte[] bytes(String hex) {
        byte[] result = new byte[hex.length() / 2];
        for (int i = 0; i < result.length; i++) result[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        return result;
    }

    static String hex(byte[] bytes) {
        StringBuilder result = new StringBuilder();
        for (byte b : bytes) result.append(String.format("%02x", b));
        return result.toString();
    }
}
