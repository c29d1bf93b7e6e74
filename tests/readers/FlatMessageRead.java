import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONWriter;
import com.alibaba.otter.canal.protocol.FlatMessage;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Reads each line into Canal's own bean, as its consumers do, and writes what the bean holds; maps in any order. */
public class FlatMessageRead {
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream out = new BufferedOutputStream(System.out, 1 << 16);
        for (String line; (line = in.readLine()) != null; ) {
            byte[] answer;
            try {
                FlatMessage bean = JSON.parseObject(line.getBytes(StandardCharsets.UTF_8), FlatMessage.class);
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
}
