import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import com.alibaba.otter.canal.protocol.FlatMessage;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads each line as a consumer of Canal reads a message, into Canal's own bean, and writes the bean as Canal's producer
 * does. The bean's maps come back from the parser in hash order, so they are exchanged for maps with the same entries in
 * the order of the line, and it is an error if they differ in more than that. A line that Canal could have written comes
 * back unchanged; whatever cannot be read comes back as `ERROR` and the reason. Of a line that begins with `bean ` what
 * the bean holds comes back, whatever stood there, its maps in any order.
 */
public class FlatMessageTrip {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream out = new BufferedOutputStream(System.out, 1 << 16);
        for (String line; (line = in.readLine()) != null; ) {
            byte[] answer;
            try {
                FlatMessage bean = line.startsWith("bean ") ? bean(line.substring(5)) : read(line);
                answer = JSON.toJSONBytes(bean, JSONWriter.Feature.WriteNulls);
            } catch (RuntimeException e) {
                answer = ("ERROR " + e).replace('\n', ' ').getBytes(StandardCharsets.UTF_8);
            }
            out.write(answer);
            out.write("\n.\n".getBytes(StandardCharsets.US_ASCII));
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    static FlatMessage bean(String line) {
        return JSON.parseObject(line.getBytes(StandardCharsets.UTF_8), FlatMessage.class);
    }

    static FlatMessage read(String line) {
        FlatMessage bean = bean(line);
        JSONObject tree = JSON.parseObject(line);
        bean.setData(same(bean.getData(), rows(tree.getJSONArray("data"))));
        bean.setOld(same(bean.getOld(), rows(tree.getJSONArray("old"))));
        bean.setMysqlType(same(bean.getMysqlType(), entries(tree.getJSONObject("mysqlType"), String.class::cast)));
        bean.setSqlType(same(bean.getSqlType(), entries(tree.getJSONObject("sqlType"), Integer.class::cast)));
        return bean;
    }

    static List<Map<String, String>> rows(JSONArray array) {
        if (array == null) {
            return null;
        }
        List<Map<String, String>> rows = new ArrayList<>(array.size());
        for (int i = 0; i < array.size(); i++) {
            rows.add(entries(array.getJSONObject(i), String.class::cast));
        }
        return rows;
    }

    static <T> Map<String, T> entries(JSONObject object, Function<Object, T> cast) {
        if (object == null) {
            return null;
        }
        Map<String, T> map = new LinkedHashMap<>();
        object.forEach((name, value) -> map.put(name, cast.apply(value)));
        return map;
    }

    /** The second, which is the first in another order. */
    static <T> T same(T parsed, T ordered) {
        if (parsed == null ? ordered != null : !parsed.equals(ordered)) {
            throw new IllegalStateException("Canal reads " + parsed + " where the line has " + ordered);
        }
        return ordered;
    }
}
